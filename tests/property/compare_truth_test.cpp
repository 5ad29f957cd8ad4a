// The verdict of compare on generated pairs over 100 seeds: slower and faster GEMMs, a slow rank,
// and pairs that differ in noise only. The rates are printed.
#include "analyses/analysis.h"
#include "analyses/compare/compare_runs.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>

namespace rankscope {
namespace {

constexpr int kSeeds = 100;
constexpr std::int64_t kRanks = 2;

ComparedRun run_of(const std::string& label, std::uint64_t seed, double gemm_scale,
                   std::int64_t straggler) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = kRanks;
  o.layers = 2;
  o.steps = 6;
  o.seed = seed;
  o.gemm_scale = gemm_scale;
  o.straggler = straggler;
  o.straggler_us = 3000;
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
    // 2 %: the other rank waits for the slow one in collectives that overlap its GEMMs for longer,
    // which slows them by about 1 %
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
  EXPECT_GE(slower, 99);
  EXPECT_GE(faster, 99);
  EXPECT_GE(slow_rank, 99);
  EXPECT_GE(other_rank, 99);
  EXPECT_GE(quiet_compute, 99);
  EXPECT_GE(quiet_rows, rows * 95 / 100);
}

/// Rows of one table that are judged together.
struct Family {
  const char* name;
  std::vector<Verdict> (*verdicts)(const Comparison&);
  int pairs = 0, false_pairs = 0;
  int rows = 0, false_rows = 0;
};

template <class Rows> std::vector<Verdict> verdicts_of(const Rows& rows) {
  std::vector<Verdict> out;
  for (const auto& row : rows)
    out.push_back(row.judgement.verdict);
  return out;
}

// Every family of rows of equal pairs: a false row in at most 5 % of the pairs, without the help of
// the threshold.
TEST(CompareTruth, EqualPairsAreToldApartInNoTable) {
  Family families[] = {
      {"Summary_Comparison", [](const Comparison& c) { return verdicts_of(c.timelines[0].mean); }},
      {"Comparison_By_Rank",
       [](const Comparison& c) { return verdicts_of(c.timelines[0].by_rank); }},
      {"nccl_implicit_sync_cmp",
       [](const Comparison& c) { return verdicts_of(c.collectives[0].all_ranks); }},
      {"nccl_long_cmp", [](const Comparison& c) { return verdicts_of(c.collectives[0].by_rank); }},
      {"dashboard NCCL", [](const Comparison& c) {
         std::vector<Verdict> out;
         for (std::size_t i = c.dashboard.gpu_rows; i < c.dashboard.rows.size(); ++i)
           out.push_back(c.dashboard.rows[i].tests[0]->judgement.verdict);
         return out;
       }}};
  for (int s = 0; s < kSeeds; ++s) {
    const auto seed = static_cast<std::uint64_t>(s);
    const Comparison c = compare_runs(run_of("base", 2 * seed + 1001, 1, -1),
                                      {run_of("test", 2 * seed + 1002, 1, -1)}, {});
    for (Family& family : families) {
      const std::vector<Verdict> verdicts = family.verdicts(c);
      ASSERT_FALSE(verdicts.empty()) << family.name;
      int wrong = 0;
      for (const Verdict v : verdicts) {
        ASSERT_NE(v, Verdict::kUnknown) << family.name;
        wrong += v == Verdict::kBetter || v == Verdict::kWorse ? 1 : 0;
      }
      ++family.pairs;
      family.false_pairs += wrong > 0 ? 1 : 0;
      family.rows += static_cast<int>(verdicts.size());
      family.false_rows += wrong;
    }
  }
  for (const Family& family : families) {
    std::cout << fmt::format("equal pairs, {}: {} of {} pairs with a false row, {} of {} rows\n",
                             family.name, family.false_pairs, family.pairs, family.false_rows,
                             family.rows);
    EXPECT_LE(family.false_pairs * 100, 5 * family.pairs) << family.name;
    EXPECT_LE(family.false_rows * 100, 5 * family.rows) << family.name;
  }
}

} // namespace
} // namespace rankscope
