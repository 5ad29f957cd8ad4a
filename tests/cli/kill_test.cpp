// Kills commands at a random moment and runs them again. Files with a final name must be complete,
// the second run must give the normal result, and no unfinished file may remain. RANKSCOPE_KILLS=N:
// N kills per command.
#include "os/process.h"
#include "output_trees.h"
#include "run_binary.h"
#include "settle.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Contents of files with final names, and the names of temporary files.
struct Outputs {
  std::map<std::string, std::string> files;
  std::vector<std::string> unfinished;
};

Outputs outputs_below(const std::string& folder) {
  Outputs out;
  if (!fs::exists(folder))
    return out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file())
      continue;
    if (name.ends_with(".tmp"))
      out.unfinished.push_back(entry.path().string());
    // the state and the manifest show which parts this run made and which it reused
    else if (name.find(".rankscope") == std::string::npos && !name.ends_with("manifest.json"))
      out.files[name] = test::bytes_of(entry.path().string());
  }
  return out;
}

class Kills : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.channels = {28, 70};
    ASSERT_TRUE(synth::generate(o, sweep_, 2, nullptr));
    // a part has the identity of its trace only if the trace is not new
    test::settle();
  }
  [[nodiscard]] std::string config(int channels) const {
    return test::config_folder(sweep_, channels);
  }

  /// Starts the program and kills it after `delay`.
  static void killed_after(const std::vector<std::string>& args, std::chrono::microseconds delay) {
    ProcessSpec spec;
    spec.argv = {test::binary()};
    spec.argv.insert(spec.argv.end(), args.begin(), args.end());
    spec.out = Stream::kCapture;
    spec.err = Stream::kCapture;
    spec.deadline = 60s;
    Result<Process> child = Process::start(std::move(spec));
    ASSERT_TRUE(child);
    std::this_thread::sleep_for(delay);
    ::kill(child->pid(), SIGKILL);
    (void)child->wait(); // was killed, or had already ended
  }

  void expect_complete(const Outputs& got, const Outputs& reference, bool all,
                       const std::string& what) {
    if (all) {
      EXPECT_EQ(got.files.size(), reference.files.size()) << what;
    }
    for (const auto& [name, bytes] : got.files) {
      const auto found = reference.files.find(name);
      if (found == reference.files.end())
        ADD_FAILURE() << what << ": " << name << " is no output of an undisturbed run";
      else
        EXPECT_TRUE(bytes == found->second) << what << ": " << name << " differs";
    }
  }

  void kill_and_run_again(const std::vector<std::string>& args, unsigned seed) {
    const char* const asked = std::getenv("RANKSCOPE_KILLS");
    const int kills = asked == nullptr ? 6 : std::atoi(asked);
    fs::create_directories(out_);
    const Clock::time_point begin = Clock::now();
    const test::RunResult undisturbed = test::run_binary(args);
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    const Outputs reference = outputs_below(out_);
    ASSERT_FALSE(reference.files.empty());
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> moment(0, took.count());
    for (int k = 0; k < kills; ++k) {
      fs::remove_all(out_);
      fs::create_directories(out_);
      const std::chrono::microseconds delay(moment(random));
      const std::string what =
          fmt::format("{} killed after {} of {} us", args[0], delay.count(), took.count());
      killed_after(args, delay);
      const Outputs left = outputs_below(out_);
      expect_complete(left, reference, false, what);
      // temporary files are removed when they are so old that no process can be writing them
      for (const std::string& path : left.unfinished)
        fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
      const test::RunResult again = test::run_binary(args);
      EXPECT_EQ(again.code, 0) << what << ": " << again.err;
      const Outputs now = outputs_below(out_);
      expect_complete(now, reference, true, what + " and run again");
      for (const std::string& path : now.unfinished)
        ADD_FAILURE() << what << ": " << path << " is left";
    }
  }

  test::TempFolder folder_;
  std::string sweep_ = folder_.path("s"), out_ = folder_.path("out");
};

TEST_F(Kills, Report) {
  const std::string trace = config(28) + "/torch_profiler/rank0/trace_step19.json";
  kill_and_run_again({"report", trace, "-q", "-o", out_ + "/r.xlsx", "--csv-dir", out_ + "/csv"},
                     1);
}

TEST_F(Kills, Partial) {
  kill_and_run_again({"partial", config(28), "-q", "--for", "page", "-o", out_}, 5);
}

TEST_F(Kills, Merge) {
  kill_and_run_again({"merge", config(28), "-q", "-o", out_ + "/m.json"}, 2);
}

TEST_F(Kills, Analyze) {
  kill_and_run_again({"analyze", sweep_, "-q", "--no-plots", "-o", out_}, 3);
}

TEST_F(Kills, Compare) {
  kill_and_run_again({"compare", "--baseline", config(28), "--test", config(70), "-q", "--no-plots",
                      "--output", out_},
                     4);
}

} // namespace
} // namespace rankscope
