// Tests which ranks are named as slow, late or on a slow link, for several numbers of ranks and
// steps, against the generator's settings. RANKSCOPE_MATRIX_RANKS=4096 adds sizes up to this number
// of ranks to the large matrix.
#include "cli/run_binary.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using Names = std::set<std::string>; ///< ranks, or the ranks of a group: "17", "24, 25"

/// The problem in a generated run.
struct RankScenario {
  const char* name;
  std::vector<std::string> options; ///< options of synth
  Names slow;                       ///< ranks that compute longer
  Names late;                       ///< ranks that start some collectives later
  Names link;                       ///< the ranks of the slow group
};

std::vector<RankScenario> rank_scenarios() {
  const Names node = {"24", "25", "26", "27", "28", "29", "30", "31"};
  const Names two = {"17", "41"};
  return {{"nothing", {"--straggler", "none"}, {}, {}, {}},
          {"one rank", {"--straggler", "none", "--throttle", "17:1.1"}, {"17"}, {"17"}, {}},
          // 2 ms in a step with 19 ms of computation
          {"two ranks", {"--straggler", "41", "--throttle", "17:1.1"}, two, two, {}},
          {"a node", {"--straggler", "none", "--throttle", "24-31:1.1"}, node, node, {}},
          // two all-reduces on the link end later, so the next reduce-scatter starts later
          {"a link",
           {"--straggler", "none", "--process-groups", "2", "--slow-link", "24-25:1.5"},
           {},
           {"24", "25"},
           {"24, 25"}}};
}

/// Ranks that a command names, by the rules of its findings.
struct Named {
  Names slow, late, link;
};

/// Adds each rank of a list such as "24-26, 40".
void add_ranks(std::string_view ranges, Names& to) {
  std::string text(ranges);
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    for (long rank = first; rank <= last; ++rank)
      to.insert(std::to_string(rank));
    at = end == at ? end + 1 : end;
  }
}

Named named_in(const RunResult& r) {
  Named out;
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  EXPECT_EQ(parser.parse(r.out).get(document), simdjson::SUCCESS) << r.err;
  simdjson::dom::array rows;
  EXPECT_EQ(document["tables"]["findings"]["rows"].get(rows), simdjson::SUCCESS);
  constexpr std::size_t kHeadline = 0;
  constexpr std::size_t kRule = 3;
  constexpr std::size_t kKind = 4;
  constexpr std::size_t kSubject = 6;
  for (const simdjson::dom::element row : rows) {
    const auto text = [&row](std::size_t column) {
      std::string_view value;
      return row.at(column).get(value) == simdjson::SUCCESS ? value : std::string_view();
    };
    if (text(kKind) != "claim")
      continue;
    if (text(kRule) == "slow-rank")
      add_ranks(text(kSubject), out.slow);
    else if (text(kRule) == "late-rank")
      add_ranks(text(kSubject), out.late);
    else if (text(kRule) == "slow-link") // "Ranks 24, 25: allreduce ..."
      out.link.emplace(text(kHeadline).substr(6, text(kHeadline).find(':') - 6));
  }
  return out;
}

std::string listed(const Names& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

/// A generated run, and the results of the commands for it.
class MatrixCell {
public:
  MatrixCell(const RankScenario& scenario, int ranks, int steps, int seed = 1) {
    std::vector<std::string> words = {"-q",
                                      "synth",
                                      sweep_,
                                      "--threads",
                                      "256",
                                      "--channels",
                                      "28",
                                      "--layers",
                                      "1",
                                      "--ranks",
                                      std::to_string(ranks),
                                      "--steps",
                                      std::to_string(steps),
                                      "--seed",
                                      std::to_string(seed)};
    words.insert(words.end(), scenario.options.begin(), scenario.options.end());
    const RunResult r = run_binary(words);
    EXPECT_EQ(r.code, 0) << r.err;
  }
  [[nodiscard]] const std::string& traces() const { return traces_; }
  [[nodiscard]] Named top() const { return named_in(run_binary({"-q", "--json", "top", traces_})); }
  [[nodiscard]] Named collectives() const {
    return named_in(run_binary({"-q", "--json", "collectives", traces_}));
  }
  [[nodiscard]] Named analyze() const {
    return named_in(run_binary({"-q", "--json", "analyze", sweep_, "-o", folder_.path("out"),
                                "--no-plots", "--no-merge", "--no-individual-reports"}));
  }

private:
  test::TempFolder folder_;
  std::string sweep_ = folder_.path("s");
  std::string traces_ = sweep_ + "/256thread/nccl_28channels/torch_profiler";
};

/// Expects that only ranks of the scenario are named; with `all`, all of them. With one step, which
/// contains little information about a rank, some may be missing.
void expect_named(const Names& named, const Names& truth, bool all, const std::string& what) {
  for (const std::string& name : named)
    EXPECT_EQ(truth.count(name), 1U) << what << " names " << name;
  if (all) {
    EXPECT_EQ(named, truth) << what;
  }
}

void expect_matrix(const std::vector<int>& sizes, const std::vector<int>& steps) {
  fmt::print("{:>6} {:>5} {:10} {:24} {:24} {:24} {}\n", "ranks", "steps", "wrong", "slow (top)",
             "slow (analyze)", "late (collectives)", "link");
  for (const int ranks : sizes)
    for (const int n : steps)
      for (const RankScenario& scenario : rank_scenarios()) {
        const MatrixCell cell(scenario, ranks, n);
        const Named top = cell.top();
        const Named collectives = cell.collectives();
        const Named analyze = cell.analyze();
        fmt::print("{:>6} {:>5} {:10} {:24} {:24} {:24} {}\n", ranks, n, scenario.name,
                   listed(top.slow), listed(analyze.slow), listed(collectives.late),
                   listed(top.link));
        const std::string what = fmt::format("{}, {} ranks, {} steps", scenario.name, ranks, n);
        expect_named(top.slow, scenario.slow, n > 1, what + ": top, slow");
        expect_named(analyze.slow, scenario.slow, n > 1, what + ": analyze, slow");
        expect_named(top.late, scenario.late, false, what + ": top, late");
        expect_named(top.link, scenario.link, n > 1, what + ": top, link");
        EXPECT_EQ(top.late, collectives.late) << what;
        EXPECT_EQ(top.link, collectives.link) << what;
      }
}

TEST(RankMatrix, WhoIsNamedInSmallRuns) {
  if (test::sanitized_program())
    GTEST_SKIP() << "minutes under a sanitizer";
  expect_matrix({64}, {2});
}

// Rank 24 is late because of its link; its own work is normal.
TEST(RankMatrix, ARankBehindASlowLinkIsSentToTheLink) {
  const MatrixCell cell(rank_scenarios().back(), 64, 5);
  const RunResult r = run_binary({"-q", "--json", "top", cell.traces()});
  EXPECT_NE(r.out.find("Rank 24 starts collectives "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("Rank 24: check the slow link of its group 15 first"), std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("host, data loading"), std::string::npos) << r.out;
  expect_named(cell.top().late, {"24", "25"}, false, "late");
}

TEST(RankMatrixLarge, WhoIsNamed) {
  if (test::sanitized_program())
    GTEST_SKIP() << "hours under a sanitizer";
  std::vector<int> sizes = {64, 256, 1024};
  if (const char* const most = std::getenv("RANKSCOPE_MATRIX_RANKS"); most != nullptr)
    for (int ranks = 4096; ranks <= std::atoi(most); ranks *= 4)
      sizes.push_back(ranks);
  expect_matrix(sizes, {1, 2, 3, 5});
}

/// Returns in how many of `runs` runs `top` names the slow ranks of the scenario, and no others.
int runs_that_name(const RankScenario& scenario, int ranks, int steps, int runs) {
  int out = 0;
  for (int seed = 1; seed <= runs; ++seed)
    out += MatrixCell(scenario, ranks, steps, seed).top().slow == scenario.slow ? 1 : 0;
  fmt::print("{} ranks, {} steps, {}: right in {} of {} runs\n", ranks, steps, scenario.name, out,
             runs);
  return out;
}
const RankScenario& scenario_of(std::string_view name) {
  static const std::vector<RankScenario> all = rank_scenarios();
  return *std::ranges::find(all, name, &RankScenario::name);
}
/// One or two of at least eight ranks are slower by a tenth.
const RankScenario kThird{"rank 3", {"--straggler", "none", "--throttle", "3:1.1"}, {"3"}, {}, {}};
const RankScenario kTwoOfEight{
    "ranks 3 and 5", {"--straggler", "5", "--throttle", "3:1.1"}, {"3", "5"}, {}, {}};

TEST(RankMatrix, ARankSlowerByATenthIsNamedFromTwoStepsOn) {
  const int runs = test::sanitized_program() ? 1 : 20;
  EXPECT_GE(runs_that_name(kThird, 8, 2, runs), runs - 1);
}

TEST(RankMatrixLarge, RanksSlowerByATenthAreNamedIn95Of100Runs) {
  const int runs = test::sanitized_program() ? 2 : 100;
  for (const int steps : {2, 3}) {
    for (const int ranks : {8, 16, 64})
      for (const RankScenario& scenario : {kThird, kTwoOfEight})
        EXPECT_GE(runs_that_name(scenario, ranks, steps, runs), 95 * runs / 100)
            << ranks << " " << steps;
    EXPECT_GE(runs_that_name(scenario_of("a node"), 64, steps, runs), 95 * runs / 100) << steps;
  }
}

TEST(RankMatrixLarge, WithoutASlowRankNoneIsNamed) {
  const int runs = test::sanitized_program() ? 1 : 20;
  for (const int ranks : {8, 64, 256}) {
    int right = 0;
    for (const int steps : {1, 2, 3, 5})
      right += runs_that_name(scenario_of("nothing"), ranks, steps, runs);
    EXPECT_GE(right, 4 * runs - 4 * runs / 10) << ranks; // of 80 runs: 8, where 4 are expected
  }
}

} // namespace
} // namespace rankscope
