#include "base/rank_excess.h"

#include "base/sample_intervals.h"
#include "base/statistics.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr double kFine = 1e-6;

using ByStep = std::vector<std::vector<double>>; // [step][rank]

RankTest test_of_run(const ByStep& steps) {
  const std::vector<std::vector<StepSeries>> runs{against_peers(steps)};
  return test_ranks(runs, kFine).front();
}

std::vector<std::size_t> significant(const RankTest& test) {
  std::vector<std::size_t> out;
  for (std::size_t r = 0; r < test.ranks.size(); ++r)
    if (test.ranks[r].significant)
      out.push_back(r);
  return out;
}

/// Returns values of ranks around 100, with noise of standard deviation 1.
ByStep quiet(std::size_t ranks, std::size_t steps, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 1);
  ByStep out(steps, std::vector<double>(ranks));
  for (std::vector<double>& step : out)
    for (double& v : step)
      v = 100 + noise(random);
  return out;
}

TEST(RankExcess, MedianOfOthers) {
  // without 9: 1 2 3, median 2; without 1: 2 3 9, median 3
  const MedianOfOthers four({9, 1, 3, 2});
  EXPECT_EQ(four.without(9), 2);
  EXPECT_EQ(four.without(1), 3);
  // without 5: 1 2 3 4; without 3: 1 2 4 5; without 1: 2 3 4 5
  const MedianOfOthers five({5, 4, 3, 2, 1});
  EXPECT_EQ(five.without(5), 2.5);
  EXPECT_EQ(five.without(3), 3);
  EXPECT_EQ(five.without(1), 3.5);
  EXPECT_EQ(MedianOfOthers({7, 7}).without(7), 7);
  // compared with a brute-force median
  std::mt19937_64 random(3);
  for (std::size_t n = 2; n < 9; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(static_cast<double>(random() % 5));
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> others = values;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(MedianOfOthers(values).without(values[i]), quantile_of(others, 0.5));
    }
  }
}

TEST(RankExcess, TailIsThatOfStudent) {
  EXPECT_NEAR(student_tail(4, 2.776445), 0.025, 1e-6);
  EXPECT_NEAR(student_tail(10, -3.169273), 0.995, 1e-6);
  EXPECT_NEAR(student_tail(3, 0), 0.5, 1e-12);
}

TEST(RankExcess, TrimmedMeanLeavesOneStepOfEightOut) {
  EXPECT_DOUBLE_EQ(trimmed_mean_of({1, 2, 3, 4, 5, 6, 7, 800}), 4.5); // mean of 2 to 7
  EXPECT_DOUBLE_EQ(trimmed_mean_of({1, 2, 9}), 4); // below five values, the plain mean
}

// ST-C2: a noisy rank does not hide a rank that is slightly slower in every step.
TEST(RankExcess, ANoisyRankDoesNotHideAConstantOne) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 1);
    ByStep steps(8, std::vector<double>(8));
    for (std::vector<double>& step : steps)
      for (std::size_t r = 0; r < step.size(); ++r)
        step[r] = 100 + noise(random) * (r == 1 ? 4 : 0.05) + (r == 2 ? 0.8 : 0);
    const std::vector<std::size_t> found = significant(test_of_run(steps));
    EXPECT_NE(std::find(found.begin(), found.end(), 2U), found.end()) << seed;
  }
}

// HA-D1: with many ranks, an excess of fifty times the noise is found with two steps, and also with
// one step.
TEST(RankExcess, ManyRanksLendTheirNoiseAtTwoSteps) {
  for (const std::size_t ranks : {64U, 512U, 4096U}) {
    ByStep steps = quiet(ranks, 2, static_cast<unsigned>(ranks));
    for (std::vector<double>& step : steps)
      step[ranks / 2] += 50;
    EXPECT_EQ(significant(test_of_run(steps)), std::vector<std::size_t>{ranks / 2}) << ranks;
  }
  ByStep single_step = quiet(64, 1, 5);
  single_step.front()[7] += 50;
  EXPECT_EQ(significant(test_of_run(single_step)), std::vector<std::size_t>{7});
}

// HA-D3, HA-D4: all slow ranks are found, not only the slowest one.
TEST(RankExcess, AllSlowRanksAreFound) {
  ByStep steps = quiet(64, 5, 9);
  for (std::vector<double>& step : steps) {
    for (std::size_t r = 24; r < 32; ++r)
      step[r] += 12;
    step[41] += 40;
  }
  EXPECT_EQ(significant(test_of_run(steps)),
            (std::vector<std::size_t>{24, 25, 26, 27, 28, 29, 30, 31, 41}));
}

TEST(RankExcess, OneStepNeedsEightPeers) {
  EXPECT_TRUE(test_of_run(quiet(8, 1, 1)).ranks.empty());
  EXPECT_EQ(test_of_run(quiet(9, 1, 1)).ranks.size(), 9U);
  EXPECT_TRUE(test_of_run(quiet(1, 5, 1)).ranks.empty());
}

// ST-C11: if two steps have equal values, a difference of one clock tick is not significant.
// Three ranks do not show how much equal ranks differ.
TEST(RankExcess, AUsualSpreadIsAdded) {
  const auto found = [](double excess, double usual_spread) {
    ByStep steps = quiet(3, 20, 4);
    for (std::vector<double>& step : steps)
      step[2] += excess;
    const std::vector<std::vector<StepSeries>> runs{against_peers(steps)};
    return significant(test_ranks(runs, kFine, kRankLevel, usual_spread).front());
  };
  EXPECT_EQ(found(10, 0), std::vector<std::size_t>{2});
  EXPECT_EQ(found(10, 1), std::vector<std::size_t>{2});
  EXPECT_TRUE(found(10, 4).empty());
  EXPECT_EQ(found(30, 4), std::vector<std::size_t>{2});
}

// The median absolute deviation of five peers is small by chance if three of them are equal.
TEST(RankExcess, WithAUsualSpreadAllPeersButTheSlowestShowTheirs) {
  ByStep steps = quiet(6, 20, 4);
  const std::vector<double> means = {0, 0, 0, 0, -30, 20};
  for (std::vector<double>& step : steps)
    for (std::size_t r = 0; r < step.size(); ++r)
      step[r] += means[r];
  const std::vector<std::vector<StepSeries>> runs{against_peers(steps)};
  EXPECT_EQ(significant(test_ranks(runs, kFine).front()), std::vector<std::size_t>{5});
  EXPECT_TRUE(significant(test_ranks(runs, kFine, kRankLevel, 0.1).front()).empty());
  // of two slow ranks, none hides the other
  for (std::vector<double>& step : steps)
    step[4] += 50;
  const std::vector<std::vector<StepSeries>> two{against_peers(steps)};
  EXPECT_EQ(significant(test_ranks(two, kFine, kRankLevel, 0.1).front()),
            (std::vector<std::size_t>{4, 5}));
}

TEST(RankExcess, EqualNumbersAreNoCertainty) {
  const std::vector<std::vector<StepSeries>> runs{
      against_peers(ByStep{{5, 5, 5, 6}, {5, 5, 5, 6}})};
  EXPECT_TRUE(significant(test_ranks(runs, 1).front()).empty());
  EXPECT_GT(test_ranks(runs, 1).front().ranks[3].half_width, 0);
}

// A result without slow ranks includes the smallest visible excess; a rank with that excess is
// found.
TEST(RankExcess, TheLeastVisibleExcessIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    ByStep steps = quiet(8, 16, seed);
    const double least = test_of_run(steps).least_visible;
    for (std::vector<double>& step : steps)
      step[3] += least;
    found += test_of_run(steps).ranks[3].significant ? 1 : 0;
  }
  EXPECT_GE(found, 85);
}

// By hand: 1 2 3 5 has the slope 1.3 and the t-value 7.2 with two degrees of freedom (limit 4.3).
TEST(RankExcess, ATrendIsASignificantSlope) {
  ASSERT_TRUE(trend_of({1, 2, 3, 5}));
  EXPECT_NEAR(*trend_of({1, 2, 3, 5}), 1.3, 1e-12);
  EXPECT_NEAR(*trend_of({5, 3, 2, 1}), -1.3, 1e-12);
  EXPECT_FALSE(trend_of({1, 2, 3})); // too few steps
  EXPECT_FALSE(trend_of({3, 1, 4, 2, 3}));
  // the same slope and scatter: the second line is far from 0
  EXPECT_TRUE(trend_of({-1, 1, 0, 2, 1, 1}));
  EXPECT_FALSE(trend_of({9, 11, 10, 12, 11, 11}));
  EXPECT_FALSE(trend_of({2, 2, 2, 2}));
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 1);
  int found = 0;
  for (int run = 0; run < 1000; ++run) {
    StepSeries values;
    for (int s = 0; s < 8; ++s)
      values.push_back(100 + noise(random));
    found += trend_of(values) ? 1 : 0;
  }
  EXPECT_NEAR(found, 50, 25);
}

std::vector<std::size_t> changing(const ByStep& steps) {
  const std::vector<std::vector<StepSeries>> runs{against_peers(steps)};
  std::vector<RankTest> tests = test_ranks(runs, kFine);
  find_changing(runs, kFine, tests);
  return significant(tests.front());
}

// The scatter of a rank that throttles includes the change, so the mean alone is not significant.
TEST(RankExcess, ARankThatIsSlowInHalfOfTheStepsIsFound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    ByStep steps = quiet(8, 12, seed);
    for (std::size_t s = 4; s < steps.size(); ++s)
      steps[s][6] += 20;
    const RankTest test = test_of_run(steps);
    EXPECT_FALSE(test.ranks[6].significant);
    EXPECT_TRUE(test.is_unclear(test.ranks[6])) << test.least_visible;
    EXPECT_EQ(changing(steps), std::vector<std::size_t>{6}) << seed;
    steps = quiet(8, 24, seed);
    for (std::size_t s = 12; s < steps.size(); ++s)
      steps[s][6] += 20;
    EXPECT_EQ(changing(steps), std::vector<std::size_t>{6}) << seed;
  }
  ByStep steps(12, std::vector<double>(8, 100));
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (std::size_t r = 0; r < 8; ++r)
      steps[s][r] += 0.1 * static_cast<double>((5 * r + 3 * s) % 7) + (r == 6 && s >= 4 ? 9 : 0);
  const std::vector<std::vector<StepSeries>> runs{against_peers(steps)};
  std::vector<RankTest> tests = test_ranks(runs, kFine);
  find_changing(runs, kFine, tests);
  const RankExcess& found = tests.front().ranks[6];
  EXPECT_TRUE(found.changing);
  EXPECT_NEAR(found.excess, 6, 0.3); // 9 in 8 of 12 steps
  EXPECT_NEAR(found.lowest, 0, 0.5);
  EXPECT_NEAR(found.highest, 9, 0.5);
}

// A rank with ten times the noise of its peers is often the slowest and as often the fastest.
TEST(RankExcess, ANoisyRankIsNotAChangingOne) {
  int found = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    ByStep steps = quiet(8, 20, seed);
    for (std::vector<double>& step : steps)
      step[6] = 100 + 10 * (step[6] - 100);
    found += changing(steps).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 12);
}

// Each rank is slow in three of ten steps, so a rank with more slow steps has them by chance.
TEST(RankExcess, StepsThatAreSlowOnAllRanksAreNoReason) {
  std::mt19937_64 random(1);
  int found = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    ByStep steps = quiet(8, 16, seed);
    for (std::vector<double>& step : steps)
      for (double& v : step)
        v += random() % 10 < 3 ? 50 : 0;
    found += changing(steps).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 12);
}

TEST(RankExcess, DependentStepsAreKnown) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 1);
  std::vector<StepSeries> independent(8), dependent(8);
  for (std::size_t r = 0; r < 8; ++r) {
    double last = noise(random);
    for (int s = 0; s < 40; ++s) {
      independent[r].push_back(noise(random));
      dependent[r].push_back(last);
      last = 0.7 * last + std::sqrt(0.51) * noise(random);
    }
  }
  EXPECT_NEAR(lag1_dependence(independent), 0, 0.15);
  EXPECT_NEAR(lag1_dependence(dependent), 0.7, 0.15);
  EXPECT_EQ(lag1_dependence(std::vector<StepSeries>{{1, 2, 3}, {2, 1, 3}}), 0.5); // too few steps
  EXPECT_DOUBLE_EQ(independent_samples(20, 0.6), 5);
  EXPECT_DOUBLE_EQ(independent_samples(3, 0.6), 2);
}

} // namespace
} // namespace rankscope
