// Measures the rates of false and of correct verdicts in the tables of compare over many simulated
// pairs of runs. Steps and collectives are drawn directly, so thousands of rows take little time.
// The rates are printed. compare_truth_test.cpp uses generated traces, null_tables_test.cpp
// different kinds of noise.
#include "analyses/compare/compare_runs.h"
#include "compare_families.h"
#include "sanitized.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <vector>

namespace rankscope {
namespace {

using test::RowFamily;

constexpr int kPairs = test::kSanitized ? 50 : 1000;
constexpr std::int64_t kRanks = 8;
constexpr std::size_t kCalls = 30; ///< calls per collective, and number of steps
constexpr double kNoise = 0.02;    ///< standard deviation of a sample relative to its mean

double mean_of(const SampleSet& values) {
  return values.stats().mean;
}

/// Returns a value with a long-tailed distribution, like measured times.
double noisy(std::mt19937_64& random, double mean, double noise = kNoise) {
  std::lognormal_distribution<double> draw(-noise * noise / 2, noise);
  return mean * draw(random);
}

void draw_collectives(ComparedRun& run, std::mt19937_64& random, double slower) {
  for (const std::int64_t nelems : {1024, 65536, 1 << 20}) {
    const double mean = std::sqrt(static_cast<double>(nelems)) * slower;
    const CollectiveKey key{"allreduce", "Float", nelems, "0"};
    CollectiveSamples& samples = run.collectives.samples[key];
    for (std::size_t i = 0; i < kCalls; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      const double latency = noisy(random, mean);
      samples.latency_us.add(step, latency);
      samples.start_skew_us.add(step, noisy(random, mean / 10));
      samples.bus_gbps.add(step, 4e3 / latency);
    }
    SyncSummary s;
    s.name = key.name;
    s.dtype = key.dtype;
    s.in_nelems = nelems;
    s.group = key.group;
    s.count = kCalls;
    s.latency_us.mean = mean_of(samples.latency_us);
    s.start_skew_us.mean = mean_of(samples.start_skew_us);
    s.bus_gbps.mean = s.algo_gbps.mean = mean_of(samples.bus_gbps);
    run.collectives.summary.push_back(s);
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      SampleSet& durations = run.collectives.rank_dur_us[{rank, key, 7}];
      for (std::size_t i = 0; i < kCalls; ++i)
        durations.add(static_cast<std::int64_t>(i), noisy(random, mean));
      RankSummary r;
      r.rank = rank;
      r.stream = 7;
      r.name = key.name;
      r.dtype = key.dtype;
      r.in_nelems = nelems;
      r.group = key.group;
      r.count = kCalls;
      r.dur_us.mean = mean_of(durations);
      r.dur_us.sum = r.dur_us.mean * kCalls;
      run.collectives.rank_summary.push_back(r);
    }
  }
}

ComparedRun run_of(const std::string& label, std::uint64_t seed, double slower) {
  std::mt19937_64 random(seed);
  ComparedRun run;
  run.label = label;
  for (std::int64_t rank = 0; rank < kRanks; ++rank)
    for (const TimeKind kind : {TimeKind::kComputation, TimeKind::kTotalComm, TimeKind::kIdle}) {
      RankTimeline& timeline = run.ranks[rank];
      std::int64_t sum = 0;
      for (std::size_t step = 0; step < kCalls; ++step) {
        const auto ns = static_cast<std::int64_t>(noisy(random, 1e7 * slower));
        timeline.step_ns[kind][static_cast<std::int64_t>(step)] = ns;
        sum += ns;
      }
      timeline.kinds[kind] = {sum, 0};
    }
  draw_collectives(run, random, slower);
  return run;
}

std::vector<RowFamily> count(double slower, bool (*wanted)(Verdict)) {
  std::vector<RowFamily> families = test::row_families();
  for (int pair = 0; pair < kPairs; ++pair) {
    const auto seed = static_cast<std::uint64_t>(pair);
    // with a threshold of 0, only the interval determines the verdict
    const Comparison c =
        compare_runs(run_of("base", 2 * seed, 1), {run_of("test", 2 * seed + 1, slower)}, {0, {}});
    for (RowFamily& family : families) {
      const std::vector<Verdict> verdicts = family.verdicts(c);
      int hits = 0;
      for (const Verdict v : verdicts)
        hits += wanted(v) ? 1 : 0;
      family.pairs_with += hits > 0 ? 1 : 0;
      family.rows_with += hits;
      family.rows += static_cast<int>(verdicts.size());
    }
  }
  return families;
}

TEST(CompareNull, EqualRunsHaveAFalseRowInAtMostFivePercentOfPairs) {
  const auto differs = [](Verdict v) { return v == Verdict::kBetter || v == Verdict::kWorse; };
  for (const RowFamily& f : count(1, differs)) {
    std::cout << fmt::format("equal runs, {}: {} of {} pairs with a false row, {} of {} rows\n",
                             f.name, f.pairs_with, kPairs, f.rows_with, f.rows);
    ASSERT_GT(f.rows, 0) << f.name;
    EXPECT_LE(f.pairs_with * 100, (test::kSanitized ? 20 : 5) * kPairs)
        << f.name; // with few pairs, the rate varies
  }
}

TEST(CompareNull, AnEffectOfTwiceTheNoiseIsFound) {
  const double slower = 1 + 2 * kNoise;
  const auto worse = [](Verdict v) { return v == Verdict::kWorse; };
  for (const RowFamily& f : count(slower, worse)) {
    std::cout << fmt::format("{} % slower, {}: {} of {} pairs, {} of {} rows Worse\n", 200 * kNoise,
                             f.name, f.pairs_with, kPairs, f.rows_with, f.rows);
    EXPECT_GE(f.rows_with * 100, 95 * f.rows) << f.name;
  }
}

} // namespace
} // namespace rankscope
