// Tests that repeated commands over ranks have the same outputs from cached facts as from traces.
#include "output_trees.h"
#include "run_binary.h"
#include "settle.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using Words = std::vector<std::string>;

class CacheCommand : public ::testing::Test {
protected:
  void SetUp() override {
    generate(200);
    fs::create_directories(batch_);
    for (const char* rank : {"rank0", "rank1"})
      for (const auto& entry : fs::directory_iterator(run_folder() + "/torch_profiler/" + rank))
        fs::copy_file(entry.path(), batch_ + "/rank_" + rank[4] + ".json");
    // traces that were written in the last two seconds are not cached
    test::settle();
  }

  void generate(std::int64_t python_events) const {
    synth::Options o = test::small_sweep();
    o.ranks = 3;
    o.channels = {28, 42};
    o.python_events = python_events;
    ASSERT_TRUE(synth::generate(o, sweep_, 1, {}));
  }

  /// Returns the number of facts in a cache.
  [[nodiscard]] int stored(const Words& cache) const {
    const std::string said = run({"cache"}, cache).said.out;
    return std::stoi(said.substr(said.find(": ") + 2));
  }

  [[nodiscard]] std::string run_folder(int channels = 28) const {
    return test::config_folder(sweep_, channels);
  }

  /// Output of a command, and the files that it writes to a folder, which replaces "@" in the
  /// command.
  struct Outcome {
    RunResult said;
    std::map<std::string, std::string> files;
  };
  [[nodiscard]] Outcome run(Words words, const Words& more = {}) const {
    const std::string out = folder_.path("out");
    fs::remove_all(out);
    fs::create_directories(out);
    for (std::string& word : words)
      if (word.starts_with("@"))
        word = out + word.substr(1);
    words.insert(words.end(), more.begin(), more.end());
    return {run_binary(words), test::files_below(out)};
  }

  /// Runs the command without a cache, and twice with a cache; expects three equal results.
  void expect_same(const Words& words) const {
    SCOPED_TRACE(words.front());
    const Outcome read = run(words, {"--no-cache"});
    if (test::lacks_web_parts(read.said))
      return;
    EXPECT_EQ(read.said.code, 0) << read.said.err;
    const Words cache = {"--cache", folder_.path("cache")};
    for (const char* time : {"first", "second"}) {
      const Outcome cached = run(words, cache);
      EXPECT_EQ(cached.said.code, read.said.code) << time;
      EXPECT_EQ(cached.said.out, read.said.out) << time;
      EXPECT_EQ(cached.said.err, read.said.err) << time;
      EXPECT_EQ(cached.files, read.files) << time;
    }
  }

  test::TempFolder folder_;
  std::string sweep_ = folder_.path("sweep"), batch_ = folder_.path("batch");
};

TEST_F(CacheCommand, EveryCommandOverRanksGivesTheSameFromTheCache) {
  expect_same({"top", run_folder()});
  expect_same({"top", run_folder(), "--json"});
  expect_same({"collectives", run_folder(), "--csv-dir", "@/csv", "-q"});
  expect_same({"page", run_folder(), "-o", "@/run.html"});
  expect_same({"page", sweep_, "-o", "@/sweep.html", "-q"});
  expect_same({"compare", "--baseline", run_folder(), "--test", run_folder(42), "-o", "@",
               "--no-plots", "-q"});
  expect_same({"baseline", "save", run_folder(), "-o", "@/a.rsb", "-q"});
  expect_same({"batch", "-b", batch_, "-o", "@/b.json", "-q"});
  expect_same({"gemm", "variance", sweep_, "-o", "@", "-q"});
  expect_same({"analyze", sweep_, "-o", "@", "--no-plots", "-q"});
  expect_same({"partial", sweep_, "-o", "@", "--for", "all", "-q"});
}

// A command that reads a trace stores the facts that were missing. top also stores the causes of
// the run, which it computes from facts.
TEST_F(CacheCommand, AfterAnalyzeOtherCommandsReadNoTrace) {
  fs::remove_all(sweep_);
  generate(0);
  test::settle();
  const Words cache = {"--cache", folder_.path("cache")};
  ASSERT_EQ(run({"analyze", sweep_, "-o", "@", "--no-plots", "-q"}, cache).said.code, 0);
  const int after_analyze = stored(cache);
  for (const Words& words :
       {Words{"top", run_folder()}, Words{"top", run_folder(), "--json"},
        Words{"why", run_folder()}, Words{"collectives", run_folder(), "--csv-dir", "@", "-q"},
        Words{"compare", "--baseline", run_folder(), "--test", run_folder(42), "-o", "@",
              "--collective-only", "--no-plots", "-q"}}) {
    SCOPED_TRACE(words.front());
    const Outcome read = run(words, {"--no-cache"}), cached = run(words, cache);
    EXPECT_EQ(read.said.code, 0) << read.said.err;
    EXPECT_EQ(cached.said.out, read.said.out);
    EXPECT_EQ(cached.said.err, read.said.err);
    EXPECT_EQ(cached.files, read.files);
    EXPECT_EQ(stored(cache), after_analyze + 1);
  }
}

// Reading Python frames takes time, and only the job graph needs them.
TEST_F(CacheCommand, AnalyzeSparesPythonFrames) {
  const Words cache = {"--cache", folder_.path("cache")};
  const Words analyze = {"analyze", sweep_, "-o", "@", "--no-plots", "-q"};
  ASSERT_EQ(run(analyze, cache).said.code, 0);
  const int after_analyze = stored(cache);
  const Words top = {"top", run_folder()};
  EXPECT_EQ(run(top, cache).said.out, run(top, {"--no-cache"}).said.out);
  EXPECT_EQ(stored(cache), after_analyze + 4); // three job graphs, and the causes of the run
  ASSERT_EQ(run(analyze, cache).said.code, 0);
  EXPECT_EQ(stored(cache), after_analyze + 4);
}

TEST_F(CacheCommand, APathIsShownAsItIsGiven) {
  expect_same({"top", run_folder(), "--json"});
  expect_same(
      {"top", run_folder() + "/../" + fs::path(run_folder()).filename().string(), "--json"});
}

TEST_F(CacheCommand, AChangedRankIsReadAgain) {
  const Words cache = {"--cache", folder_.path("cache")};
  const Words top = {"top", run_folder()};
  (void)run(top, cache);
  std::vector<fs::path> traces, others;
  for (const auto& [channels, to] : {std::pair(28, &traces), std::pair(42, &others)}) {
    for (const auto& entry : fs::recursive_directory_iterator(run_folder(channels)))
      if (entry.path().string().find(".json") != std::string::npos)
        to->push_back(entry.path());
    std::sort(to->begin(), to->end());
  }
  ASSERT_EQ(traces.size(), 3U);
  fs::copy_file(others[1], traces[1], fs::copy_options::overwrite_existing);
  const Outcome read = run(top, {"--no-cache"});
  EXPECT_EQ(run(top, cache).said.out, read.said.out); // immediately, in the same second
  test::settle();
  EXPECT_EQ(run(top, cache).said.out, read.said.out);
  EXPECT_EQ(run(top, cache).said.out, read.said.out);
  fs::remove(traces[2]);
  const Outcome two = run(top, {"--no-cache"});
  EXPECT_EQ(run(top, cache).said.out, two.said.out);
}

TEST_F(CacheCommand, TheCommandShowsAndClearsTheCache) {
  const Words cache = {"--cache", folder_.path("cache")};
  EXPECT_NE(run({"cache"}, cache).said.out.find(": 0 cached facts"), std::string::npos);
  (void)run({"top", run_folder()}, cache);
  EXPECT_NE(run({"cache"}, cache).said.out.find(": 19 cached facts"), std::string::npos);
  EXPECT_NE(run({"cache", "--clear"}, cache).said.out.find("19 cached facts removed"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_.path("cache")));
  EXPECT_EQ(run_binary({"cache", "--no-cache"}).code, 2);
}

TEST_F(CacheCommand, AFullOrLockedFolderChangesNothing) {
  folder_.write("file", "");
  const Outcome read = run({"top", run_folder()}, {"--no-cache"});
  for (const std::string& cache :
       {folder_.path("file"), std::string("/dev/full"), std::string("/proc/x")}) {
    const Outcome cached = run({"top", run_folder()}, {"--cache", cache});
    EXPECT_EQ(cached.said.out, read.said.out);
    EXPECT_EQ(cached.said.err, read.said.err);
  }
}

} // namespace
} // namespace rankscope
