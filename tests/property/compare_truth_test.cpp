// Tests the verdicts of compare on generated pairs for 100 seeds: slower and faster GEMMs, a slow
// rank, and pairs that differ only in noise. The rates are printed.
#include "analyses/analysis.h"
#include "analyses/compare/compare_runs.h"
#include "compare_families.h"
#include "engine/loader.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>

namespace rankscope {
namespace {

using test::RowFamily;

constexpr int kSeeds = test::kThreadSanitized ? 4 : test::kAddressSanitized ? 20 : 100;
constexpr std::int64_t kCompareTruthRanks = 2;

synth::Options options_of(std::uint64_t seed, double gemm_scale, std::int64_t straggler) {
  synth::Options o = test::small_sweep();
  o.ranks = kCompareTruthRanks;
  o.layers = 2;
  o.steps = 6;
  o.seed = seed;
  o.gemm_scale = gemm_scale;
  o.straggler = straggler;
  o.straggler_us = 3000;
  return o;
}

ComparedRun run_of(const std::string& label, const synth::Options& o) {
  test::TempFolder folder;
  EXPECT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  ComparedRun run;
  run.label = label;
  Diagnostics diagnostics;
  const auto plan = discover_run({folder.path()}, {}, diagnostics);
  EXPECT_TRUE(plan);
  ReportOptions options;
  std::vector<RankCollectives> collectives;
  for (const RankFile& file : plan->ranks) {
    auto trace = load_trace(file.path, LoadOptions{});
    EXPECT_TRUE(trace);
    trace->rank = file.rank;
    run.ranks.emplace(file.rank, rank_timeline(*trace, options));
    collectives.push_back(extract_collectives(*trace));
  }
  const auto facts = collective_facts(collectives, CollectiveOptions{});
  EXPECT_TRUE(facts);
  run.collectives = run_collectives(*facts);
  return run;
}

ComparedRun run_of(const std::string& label, std::uint64_t seed, double gemm_scale,
                   std::int64_t straggler) {
  return run_of(label, options_of(seed, gemm_scale, straggler));
}

/// Counts the rows of an equal pair with a verdict of better or worse.
void count_false(const Comparison& c, std::vector<RowFamily>& families) {
  for (RowFamily& family : families) {
    const std::vector<Verdict> verdicts = family.verdicts(c);
    ASSERT_FALSE(verdicts.empty()) << family.name;
    int wrong = 0;
    for (const Verdict v : verdicts) {
      ASSERT_NE(v, Verdict::kUnknown) << family.name;
      wrong += v == Verdict::kBetter || v == Verdict::kWorse ? 1 : 0;
    }
    ++family.pairs;
    family.pairs_with += wrong > 0 ? 1 : 0;
    family.rows += static_cast<int>(verdicts.size());
    family.rows_with += wrong;
  }
}

void print(const char* what, const std::vector<RowFamily>& families) {
  for (const RowFamily& family : families)
    std::cout << fmt::format("{}, {}: {} of {} pairs with a false row, {} of {} rows\n", what,
                             family.name, family.pairs_with, family.pairs, family.rows_with,
                             family.rows);
}

Dashboard dashboard(const ComparedRun& base, ComparedRun test) {
  return compare_runs(base, {std::move(test)}, {}).dashboard;
}

std::optional<Verdict> computation(const Dashboard& dashboard) {
  for (const DashboardRow& row : dashboard.rows)
    if (row.kind == TimeKind::kComputation)
      return row.tests[0]->judgement.verdict;
  return std::nullopt;
}

TEST(CompareTruth, VerdictsOverAHundredSeeds) {
  int slower = 0;
  int faster = 0;
  int quiet_compute = 0;
  int quiet_rows = 0;
  int rows = 0;
  int slow_rank = 0;
  int other_rank = 0;
  std::map<std::string, int> false_by_metric;
  for (int s = 0; s < kSeeds; ++s) {
    const auto seed = static_cast<std::uint64_t>(s);
    const ComparedRun base = run_of("base", 2 * seed + 1, 1, -1);
    const Dashboard slow = dashboard(base, run_of("test", 2 * seed + 2, 1.03, -1));
    slower += computation(slow) == Verdict::kWorse ? 1 : 0;
    const Dashboard fast = dashboard(base, run_of("test", 2 * seed + 2, 0.97, -1));
    faster += computation(fast) == Verdict::kBetter ? 1 : 0;
    const Dashboard same = dashboard(base, run_of("test", 2 * seed + 2, 1, -1));
    quiet_compute += computation(same) == Verdict::kSimilar ? 1 : 0;
    for (const DashboardRow& row : same.rows) {
      ++rows;
      if (row.tests[0]->judgement.verdict == Verdict::kSimilar)
        ++quiet_rows;
      else
        ++false_by_metric[row.metric];
    }
    // threshold of 2 %: the other rank waits for the slow rank in collectives, which then overlap
    // its GEMMs for longer and slow them down by about 1 %
    for (const TimelineChange& row :
         compare_timelines(base, run_of("test", 2 * seed + 2, 1, 1), {2, {}}).by_rank)
      if (row.kind == TimeKind::kComputation) {
        if (row.rank == 1)
          slow_rank += row.judgement.verdict == Verdict::kWorse ? 1 : 0;
        else
          other_rank += row.judgement.verdict == Verdict::kSimilar ? 1 : 0;
      }
  }
  std::cout << fmt::format("GEMMs 3 % slower called Worse: {}/{}\n"
                           "GEMMs 3 % faster called Better: {}/{}\n"
                           "slow rank called Worse: {}/{}, the other rank Similar: {}/{}\n"
                           "unchanged pairs: computation Similar {}/{}, all rows Similar {}/{}\n",
                           slower, kSeeds, faster, kSeeds, slow_rank, kSeeds, other_rank, kSeeds,
                           quiet_compute, kSeeds, quiet_rows, rows);
  for (const auto& [metric, n] : false_by_metric)
    std::cout << fmt::format("  unchanged but not Similar: {} {}\n", metric, n);
  // six steps: if they look dependent, the interval is wider, and some effects are not found
  EXPECT_GE(slower * 100, kSeeds * 95);
  EXPECT_GE(faster * 100, kSeeds * 95);
  EXPECT_GE(slow_rank * 100, kSeeds * 99);
  EXPECT_GE(other_rank * 100, kSeeds * 99);
  EXPECT_GE(quiet_compute * 100, kSeeds * 99);
  EXPECT_GE(quiet_rows, rows * 95 / 100);
}

// For all families of rows and equal pairs: at most 5 % of the pairs have a false row, also without
// the threshold.
TEST(CompareTruth, EqualPairsAreToldApartInNoTable) {
  std::vector<RowFamily> families = test::row_families();
  for (int s = 0; s < kSeeds; ++s) {
    const auto seed = static_cast<std::uint64_t>(s);
    const Comparison c = compare_runs(run_of("base", 2 * seed + 1001, 1, -1),
                                      {run_of("test", 2 * seed + 1002, 1, -1)}, {});
    count_false(c, families);
  }
  print("equal pairs", families);
  for (const RowFamily& family : families) {
    EXPECT_LE(family.pairs_with * 100, 5 * family.pairs) << family.name;
    EXPECT_LE(family.rows_with * 100, 5 * family.rows) << family.name;
  }
}

// Eight equal ranks and three times the noise. With few pairs, the rate varies around 5 %.
// RANKSCOPE_PAIRS=N: uses N pairs.
TEST(CompareTruth, EqualPairsOfEightRanks) {
  const char* const more = std::getenv("RANKSCOPE_PAIRS");
  const int pairs = more != nullptr ? std::atoi(more) : test::kSanitized ? 5 : 20;
  std::vector<RowFamily> families = test::row_families();
  for (int pair = 0; pair < pairs; ++pair) {
    synth::Options o = options_of(static_cast<std::uint64_t>(2 * pair + 5001), 1, -1);
    o.ranks = 8;
    o.noise = 0.03;
    o.equal_devices = true;
    const ComparedRun base = run_of("base", o);
    ++o.seed;
    count_false(compare_runs(base, {run_of("test", o)}, {0, {}}), families);
  }
  print("equal pairs of 8 ranks", families);
  const double scatter = 2 * std::sqrt(0.05 * 0.95 * pairs);
  for (const RowFamily& family : families)
    EXPECT_LE(family.pairs_with, 0.05 * pairs + scatter) << family.name;
}

} // namespace
} // namespace rankscope
