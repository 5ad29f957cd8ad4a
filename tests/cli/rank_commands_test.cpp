// Tests every command over ranks, from the list in app/rank_commands.h: one process, the parts of
// four shards, and a second run from the cache must print and write the same.
#include "app/rank_commands.h"
#include "output_trees.h"
#include "rank_cases.h"
#include "run_binary.h"
#include "settle.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::RankWords;
using test::run_binary;
using test::RunResult;
class RankCommands : public ::testing::TestWithParam<std::string> {
protected:
  struct Outcome {
    RunResult said;
    std::map<std::string, std::string> files;
  };

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  /// Runs the command with these inputs and an empty OUT.
  [[nodiscard]] Outcome run(RankWords words, const std::string& run,
                            const std::string& sweep) const {
    fs::remove_all(path("out"));
    fs::create_directories(path("out"));
    for (std::string& word : words) {
      if (word == "RUN" || word == "SWEEP")
        word = word == "RUN" ? run : sweep;
      if (word.starts_with("OUT"))
        word = path("out") + word.substr(3);
    }
    Outcome out{run_binary(words), {}};
    out.files = test::files_below(path("out"));
    return out;
  }

  /// Returns the lines on stderr about the data.
  static RankWords notes(const std::string& err) {
    RankWords out;
    for (std::size_t at = 0; at < err.size();) {
      const std::size_t end = std::min(err.find('\n', at), err.size());
      if (const std::string line = err.substr(at, end - at); line.starts_with("rankscope: "))
        out.push_back(line);
      at = end + 1;
    }
    return out;
  }

  static void expect_equal(const Outcome& want, const Outcome& got, const std::string& how) {
    SCOPED_TRACE(how);
    EXPECT_EQ(got.said.code, want.said.code) << got.said.err;
    EXPECT_EQ(got.said.out, want.said.out);
    EXPECT_EQ(notes(got.said.err), notes(want.said.err));
    EXPECT_EQ(got.files.size(), want.files.size());
    for (const auto& [name, bytes] : want.files)
      EXPECT_TRUE(got.files.count(name) > 0 && got.files.at(name) == bytes) << name;
  }

  [[nodiscard]] std::string parts_of(const std::string& input, const RankWords& more) const {
    const std::string parts = path("parts_" + fs::path(input).filename().string());
    fs::remove_all(parts);
    for (int i = 0; i < 4; ++i) {
      RankWords words = {"partial", input, "--for",   GetParam(),
                         "-o",      parts, "--shard", fmt::format("{}/4", i)};
      words.insert(words.end(), more.begin(), more.end());
      const RunResult r = run_binary(words);
      EXPECT_TRUE(r.code == 0 || r.code == 4) << r.err;
    }
    return parts;
  }

  void expect_same(const RankCommand& command, const std::string& run_folder,
                   const std::string& sweep) const {
    // traces that were written in the last two seconds are not cached
    test::settle();
    RunResult before; // html shows results of analyze
    if (GetParam() == "html")
      before = run_binary({"analyze", sweep, "--no-merge", "--no-plots"});
    for (const test::RankCase& rank_case : test::rank_cases(command)) {
      SCOPED_TRACE(fmt::format("{}", fmt::join(rank_case.words, " ")));
      RankWords direct = rank_case.words;
      direct.insert(direct.begin(), GetParam());
      direct.insert(direct.end(), rank_case.partial.begin(), rank_case.partial.end());
      RankWords reduce = rank_case.words;
      reduce.insert(reduce.begin(), {"reduce", "--as", GetParam()});
      RankWords alone = direct, cached = direct;
      alone.emplace_back("--no-cache");
      cached.insert(cached.end(), {"--cache", path("cache")});
      const Outcome want = run(alone, run_folder, sweep);
      if (test::lacks_web_parts(want.said))
        GTEST_SKIP() << want.said.err;
      EXPECT_TRUE(want.said.code == 0 || want.said.code == 4) << want.said.err;
      EXPECT_FALSE(want.files.empty() && want.said.out.empty());
      const bool takes_run = std::ranges::find(rank_case.words, "RUN") != rank_case.words.end();
      const std::string parts = parts_of(takes_run ? run_folder : sweep, rank_case.partial);
      Outcome with_parts = want;
      with_parts.said.code = std::max(want.said.code, before.code);
      with_parts.said.err = before.err + want.said.err;
      expect_equal(with_parts, run(reduce, parts, parts), "parts");
      expect_equal(want, run(cached, run_folder, sweep), "first run with a cache");
      expect_equal(want, run(cached, run_folder, sweep), "second run with a cache");
    }
  }

  const test::TempFolder folder_;
};

TEST_P(RankCommands, PartsAndTheCacheGiveWhatTheTracesGive) {
  const RankCommand& command = *find_rank_command(GetParam());
  synth::Options o = test::small_sweep();
  o.ranks = 4;
  o.channels = {28, 42};
  o.clock_offset_us = 300;
  ASSERT_TRUE(synth::generate(o, path("sweep"), 1, {}));
  std::string run = test::config_folder(path("sweep"));
  if (command.ranks == RanksOf::kBatchFolders) {
    fs::create_directories(path("batch"));
    for (int rank = 0; rank < 4; ++rank)
      for (const auto& trace :
           fs::directory_iterator(fmt::format("{}/torch_profiler/rank{}", run, rank)))
        fs::copy_file(trace.path(), path(fmt::format("batch/rank_{}.json", rank)));
    run = path("batch");
  }
  expect_same(command, run, path("sweep"));
}

/// Recorded traces of real programs.
TEST_P(RankCommands, TheSameOfRealTraces) {
  const fs::path golden = test::golden_dir();
  if (!fs::is_directory(golden / "hta"))
    GTEST_SKIP() << "the reference data of real runs is absent (RANKSCOPE_GOLDEN names its folder)";
  const RankCommand& command = *find_rank_command(GetParam());
  const bool folders = command.ranks == RanksOf::kBatchFolders;
  const std::string pair = path("pair");
  if (folders)
    fs::copy(golden / "batch/profiles/013_profile_544p_bs1", pair);
  else
    fs::create_directories(pair);
  for (const char* name : {"sampled_rank-0.json.gz", "sampled_rank-1.json.gz"})
    if (!folders)
      fs::copy_file(golden / "hta" / name, pair + "/" + name);
  expect_same(command, pair, pair);
}

INSTANTIATE_TEST_SUITE_P(List, RankCommands, ::testing::ValuesIn([] {
                           std::vector<std::string> out;
                           for (const RankCommand& command : rank_commands())
                             out.emplace_back(command.name);
                           return out;
                         }()),
                         [](const auto& instance) { return instance.param; });

} // namespace
} // namespace rankscope
