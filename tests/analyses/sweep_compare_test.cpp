// What a sweep says of its configurations and ranks: how often it is wrong where there is nothing
// to find, and how often it finds what is there. Both tables are printed.
#include "analyses/sweep/sweep_compare.h"
#include "analyses/sweep/sweep_findings.h"
#include "cost.h"
#include "sanitized.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr int kSeeds = 100;
constexpr int kConfigurations = 4;
constexpr int kRanks = 4;
constexpr int kSteps = 20;
constexpr double kNoiseMs = 1; ///< standard deviation of a step

struct Effect {
  double faster_ms = 0;    ///< configuration 2 takes this much less
  double straggler_ms = 0; ///< rank 1 computes this much longer ...
  bool others_wait = true; ///< ... and the others are that much longer in collectives
};

/// Steps of about 100 ms: noise of its own on each step of a configuration, on each rank's compute.
std::vector<RankRecord> simulated(unsigned seed, const Effect& effect) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, kNoiseMs);
  std::vector<RankRecord> out;
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  for (int c = 0; c < kConfigurations; ++c) {
    const std::size_t first = out.size();
    for (int r = 0; r < kRanks; ++r) {
      RankRecord record;
      record.key.configuration.label = "c" + std::to_string(c);
      record.key.configuration.set(kThreads, std::int64_t{64} << c);
      record.key.configuration.set(kChannels, std::int64_t{28});
      record.key.rank = r;
      out.push_back(std::move(record));
    }
    for (int s = 0; s < kSteps; ++s) {
      const double total = 100 + noise(random) - (c == 2 ? effect.faster_ms : 0);
      for (int r = 0; r < kRanks; ++r) {
        const bool late = r == 1 && effect.straggler_ms > 0;
        const double compute = 60 + noise(random) + (late ? effect.straggler_ms : 0);
        const double comm =
            30 + noise(random) / 4 - (late && effect.others_wait ? effect.straggler_ms : 0);
        StepTimes step;
        step.step = s;
        step.ns[static_cast<std::size_t>(TimeKind::kTotal)] = ns(total);
        step.ns[static_cast<std::size_t>(TimeKind::kComputation)] = ns(compute);
        step.ns[static_cast<std::size_t>(TimeKind::kTotalComm)] = ns(comm);
        step.ns[static_cast<std::size_t>(TimeKind::kExposedComm)] = ns(comm);
        out[first + static_cast<std::size_t>(r)].steps.push_back(step);
      }
    }
    for (std::size_t r = first; r < out.size(); ++r)
      for (std::size_t k = 0; k < kTimeKinds; ++k) {
        std::int64_t sum = 0;
        for (const StepTimes& step : out[r].steps)
          sum += step.ns[k];
        out[r].time_ns[k] = sum;
      }
  }
  return out;
}

struct Said {
  bool ranking = false; ///< some configuration is told from the best one
  bool winner = false;
  bool slow_rank = false, waits = false;
  bool try_other = false;
};

Said said_of(const std::vector<RankRecord>& records) {
  const auto groups = by_configuration(records);
  const auto ranking = rank_by_steps(groups, TimeKind::kTotal);
  EXPECT_TRUE(ranking);
  Said out;
  for (const AgainstBest& o : ranking->others)
    out.ranking = out.ranking || o.told();
  out.winner = ranking->winner() && ranking->best->configuration.label == "c2";
  for (const SlowRank& s : slow_ranks(groups).told) {
    out.slow_rank = out.slow_rank || s.rank == 1;
    out.waits = out.waits || s.waited.has_value();
  }
  for (const std::string& sentence : next_steps(judge(records), {}))
    out.try_other = out.try_other || sentence.find(": try ") != std::string::npos;
  return out;
}

// Each step of a rank was looked for among all steps of the others.
TEST(SweepCompare, CommonStepsGrowWithTheSteps) {
  test::expect_near_linear(test::kSanitized ? 1'000 : 4'000, [](std::size_t n) {
    std::vector<RankRecord> ranks(2);
    for (RankRecord& rank : ranks)
      for (std::size_t s = 0; s < n; ++s) {
        StepTimes step;
        step.step = static_cast<std::int64_t>(&rank == &ranks[0] ? s : n - 1 - s);
        step.ns[static_cast<std::size_t>(TimeKind::kTotal)] = 1'000'000 * (step.step + 1);
        rank.steps.push_back(step);
      }
    ConfigurationRanks group;
    group.ranks = {&ranks[0], &ranks[1]};
    const std::vector<double> means = step_means_ms(group, TimeKind::kTotal);
    ASSERT_EQ(means.size(), n);
    ASSERT_EQ(means.back(), static_cast<double>(n));
  });
}

TEST(SweepCompare, NullRunsAreSeldomWrong) {
  int ranking = 0, slow = 0, other = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const std::vector<RankRecord> records = simulated(seed, {});
    const Said said = said_of(records);
    ranking += said.ranking ? 1 : 0;
    slow += slow_ranks(by_configuration(records)).told.empty() ? 0 : 1;
    other += said.try_other ? 1 : 0;
  }
  std::printf("of %d sweeps without any effect: %d tell configurations apart, %d name a slow rank, "
              "%d say what to try\n",
              kSeeds, ranking, slow, other);
  EXPECT_LE(ranking, 5);
  EXPECT_LE(slow, 5);
  EXPECT_LE(other, 5);
}

TEST(SweepCompare, EffectsOfTwiceTheNoiseAreFound) {
  int winner = 0, slow = 0, waits = 0, no_waits = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    winner += said_of(simulated(seed, {2 * kNoiseMs, 0, true})).winner ? 1 : 0;
    const Said late = said_of(simulated(seed, {0, 2 * kNoiseMs, true}));
    slow += late.slow_rank ? 1 : 0;
    waits += late.waits ? 1 : 0;
    no_waits += said_of(simulated(seed, {0, 2 * kNoiseMs, false})).waits ? 1 : 0;
  }
  std::printf("of %d sweeps with an effect of twice the noise: %d name the fastest configuration, "
              "%d the slow rank, %d that the others wait; %d say so where they do not\n",
              kSeeds, winner, slow, waits, no_waits);
  EXPECT_GE(winner, 90); // intervals allow for steps that depend on each other
  EXPECT_GE(slow, 95);
  EXPECT_GE(waits, 95);
  EXPECT_LE(no_waits, 5);
}

TEST(SweepCompare, OneStepIsNoSample) {
  std::vector<RankRecord> records = simulated(1, {5, 5, true});
  for (RankRecord& r : records)
    r.steps.resize(1);
  EXPECT_FALSE(rank_by_steps(by_configuration(records), TimeKind::kTotal));
  EXPECT_TRUE(slow_ranks(by_configuration(records)).tested.empty());
  const auto findings = summary_findings(judge(records), records);
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings[0].find("cannot be told from noise"), std::string::npos) << findings[0];
}

TEST(SweepCompare, SentencesHaveTheirIntervals) {
  const std::vector<RankRecord> different = simulated(3, {4, 4, true});
  const auto told = summary_findings(judge(different), different);
  ASSERT_GE(told.size(), 3U);
  EXPECT_EQ(told[0].rfind("shortest steps in these runs: c2, ", 0), 0U) << told[0];
  EXPECT_NE(told[0].find("Welch, 95 % over 18 comparisons, 20 steps"), std::string::npos)
      << told[0];
  EXPECT_NE(told[2].find("rank 1 computes "), std::string::npos) << told[2];
  EXPECT_NE(told[2].find(", in 4 of 4 configurations, most in "), std::string::npos) << told[2];
  const std::vector<RankRecord> same = simulated(3, {});
  const auto none = summary_findings(judge(same), same);
  EXPECT_NE(none[0].find("cannot be told apart"), std::string::npos) << none[0];
}

} // namespace
} // namespace rankscope
