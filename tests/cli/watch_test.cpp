// Tests rankscope watch: output, exit codes, the alarm command, Ctrl-C, and a kill with a restart.
// The tests wait for events (a file, a line), never for a time.
#include "os/process.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::run_binary;
using test::RunResult;

class WatchCli : public testing::Test {
protected:
  /// Writes the traces of one more window.
  void window(std::int64_t straggler = -1) {
    synth::Options o = test::small_sweep();
    o.ranks = 4;
    o.steps = 5;
    o.seed = static_cast<std::uint64_t>(++windows_);
    o.straggler = straggler;
    o.straggler_us = 4000;
    const std::string made = folder_.path("made");
    ASSERT_TRUE(synth::generate(o, made, 2, nullptr));
    for (int r = 0; r < 4; ++r) {
      const std::string rank = "/rank" + std::to_string(r);
      fs::create_directories(run() + rank);
      fs::rename(test::config_folder(made) + "/torch_profiler" + rank + "/trace_step19.json",
                 run() + rank + "/t" + std::to_string(windows_) + ".json");
    }
    fs::remove_all(made);
  }
  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  [[nodiscard]] static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++out;
    return out;
  }
  [[nodiscard]] bool unfinished() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path("")))
      if (entry.path().extension() == ".tmp")
        return true;
    return false;
  }

  test::TempFolder folder_;
  int windows_ = 0;
};

TEST_F(WatchCli, TellsOnceAndGoesOnFromItsState) {
  const std::vector<std::string> words = {"watch",
                                          run(),
                                          "--once",
                                          "--state",
                                          folder_.path("state"),
                                          "-o",
                                          folder_.path("page.html"),
                                          "--on-alarm",
                                          "echo",
                                          "--on-alarm",
                                          "two words; $HOME"};
  window();
  const RunResult quiet = run_binary(words);
  EXPECT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(count(quiet.out, "4 of 4 ranks"), 1U) << quiet.out;
  EXPECT_EQ(count(quiet.out, "ALARM"), 0U);
  window(2);
  const RunResult slow = run_binary(words);
  EXPECT_EQ(slow.code, 5) << slow.err;
  EXPECT_EQ(count(slow.out, "ALARM straggler: steps 15-19: rank 2 starts"), 1U) << slow.out;
  EXPECT_EQ(count(slow.err, "two words; $HOME straggler 2 steps 15-19: rank 2 starts"), 1U)
      << slow.err; // passed as one argument
  const RunResult again = run_binary(words);
  EXPECT_EQ(again.code, 5) << "an alarm of this job was raised";
  EXPECT_EQ(again.out, "");
  const std::string page = test::bytes_of(folder_.path("page.html"));
  EXPECT_EQ(count(page, "straggler: steps 15-19: rank 2 starts"), 1U);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_FALSE(unfinished());
}

TEST_F(WatchCli, JsonIsALineForEachAlarm) {
  window(1);
  const RunResult r = run_binary({"--json", "watch", run(), "--once"});
  EXPECT_EQ(r.code, 5);
  EXPECT_EQ(count(r.out, "\n"), 1U) << r.out;
  EXPECT_NE(r.out.find("\"alarm\": \"straggler\", \"subject\": \"1\", \"sentence\": \""),
            std::string::npos)
      << r.out;
}

// A misspelled path must not look like a job without alarms.
TEST_F(WatchCli, OneLookAtNothingIsAnError) {
  for (const std::string& where : {folder_.path("nope"), folder_.path()}) {
    const RunResult r = run_binary({"watch", where, "--once"});
    EXPECT_EQ(r.code, 3) << where;
    EXPECT_EQ(r.err, "rankscope: " + where + ": contains neither traces nor Inspector logs\n");
  }
}

TEST_F(WatchCli, RefusesWhatCannotBe) {
  EXPECT_EQ(run_binary({"watch"}).code, 2);
  EXPECT_EQ(run_binary({"watch", run(), "--until", "tomorrow"}).code, 2);
  folder_.write("state", "no state");
  const RunResult r = run_binary({"watch", run(), "--once", "--state", folder_.path("state")});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("is not a watch state"), std::string::npos) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("state")), "no state");
  EXPECT_EQ(run_binary({"watch", run(), "--once", "-o", "/no/such/folder/page.html"}).code, 6);
}

/// Starts a watch, waits until its page shows that `windows` windows were judged, and ends it with
/// `signal`.
ProcessEnd ended_by(int signal, const std::vector<std::string>& more, const std::string& page,
                    int windows) {
  ProcessSpec spec;
  spec.argv = {test::binary(), "watch"};
  spec.argv.insert(spec.argv.end(), more.begin(), more.end());
  spec.argv.insert(spec.argv.end(), {"--interval", "0.05", "-o", page});
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = 120s; // if the event never occurs
  Result<Process> child = Process::start(std::move(spec));
  EXPECT_TRUE(child);
  // copied in this thread, because wait() changes it in the other thread
  const pid_t pid = child->pid();
  const std::string wanted =
      ", " + std::to_string(windows) + (windows == 1 ? " window judged" : " windows judged");
  std::thread killer([&] {
    bool judged = false;
    for (int polls = 0; polls < 2000 && !judged; ++polls) {
      std::this_thread::sleep_for(20ms);
      judged = fs::exists(page) && test::bytes_of(page).find(wanted) != std::string::npos;
    }
    EXPECT_TRUE(judged) << "the page does not contain \"" << wanted << '"';
    ::kill(pid, signal);
  });
  Result<ProcessEnd> end = child->wait();
  killer.join();
  EXPECT_TRUE(end);
  return end ? *end : ProcessEnd{};
}

TEST_F(WatchCli, CtrlCEndsItWithWholeOutputs) {
  window();
  const std::string page = folder_.path("page.html");
  const ProcessEnd end = ended_by(SIGINT, {run()}, page, 1);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(test::bytes_of(page).find("</html>"), std::string::npos);
  EXPECT_FALSE(unfinished());
}

TEST_F(WatchCli, AKillAndARestartTellNothingTwice) {
  window(3);
  window(3);
  const std::string page = folder_.path("page.html");
  const std::vector<std::string> words = {run(), "--state", folder_.path("state")};
  const ProcessEnd killed = ended_by(SIGKILL, words, page, 2);
  EXPECT_EQ(killed.signal, SIGKILL);
  window(3);
  std::vector<std::string> once = {"watch"};
  once.insert(once.end(), words.begin(), words.end());
  once.insert(once.end(), {"--once", "-o", page});
  const RunResult after = run_binary(once);
  EXPECT_EQ(after.code, 5);
  EXPECT_EQ(count(after.out, "4 of 4 ranks"), 1U) << "the third window alone\n" << after.out;
  EXPECT_EQ(count(after.out, "ALARM"), 0U) << after.out;
  const std::string html = test::bytes_of(page);
  EXPECT_EQ(count(html, "straggler: "), 1U); // in the list of alarms; the charts have it too
  EXPECT_NE(html.find("rank 3 starts"), std::string::npos);
}

} // namespace
} // namespace rankscope
