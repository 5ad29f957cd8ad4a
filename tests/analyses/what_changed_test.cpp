// Tests the changes between two runs with hand-calculated values: shares, verdicts and replaced
// kernels.
#include "analyses/compare/what_changed.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kWhatChangedMs = 1'000'000;

WorkKey kernel(const std::string& name, const std::string& op = "aten::mm",
               const std::string& shapes = "64x64 64x64") {
  return {StepWorkKind::kKernel, op, shapes, name};
}

Work work(const std::vector<double>& ms, double launches = 4, double place = 0.5) {
  Work out;
  for (const double v : ms)
    out.self_ns.push_back(std::llround(v * kWhatChangedMs));
  out.launches = launches;
  out.place = place;
  out.path = 7;
  out.grid = "[16,1,1]";
  out.block = "[256,1,1]";
  return out;
}

/// Returns a run of one rank. The part of `total_ms` without work is idle time.
StepWork run_of(const std::map<WorkKey, Work>& works, const std::vector<double>& total_ms) {
  StepWork out;
  out.ranks = 1;
  out.work = works;
  Work idle;
  for (std::size_t s = 0; s < total_ms.size(); ++s) {
    out.steps.push_back(static_cast<std::int64_t>(s) + 1);
    out.total_ns.push_back(std::llround(total_ms[s] * kWhatChangedMs));
    std::int64_t busy = 0;
    for (const auto& [key, sum] : works)
      busy += sum.self_ns[s];
    idle.self_ns.push_back(out.total_ns.back() - busy);
  }
  out.work[{StepWorkKind::kIdle, "", "", "idle"}] = idle;
  return out;
}

const Change* row(const ChangeList& list, const std::string& name) {
  for (const Change& change : list.rows)
    if (change.name == name)
      return &change;
  return nullptr;
}

double sum_of(const ChangeList& list) {
  double sum = 0;
  for (const Change& change : list.rows)
    sum += change.difference_ms;
  return sum;
}

// Baseline means: a 10, b 5, c 2, idle 3, total 20 ms. Test means: a 12, b 5.01, d 1, idle 3, total
// 21.01 ms. The difference of 1.01 ms is +2 (a), +0.01 (b), -2 (c, vanished), +1 (d, new), 0
// (idle).
TEST(WhatChanged, RowsAddUpToTheDifference) {
  const StepWork base = run_of({{kernel("a"), work({9.99, 10, 10.01})},
                                {kernel("b", "aten::add"), work({4.9, 5, 5.1})},
                                {kernel("c", "aten::mul"), work({1.99, 2, 2.01})}},
                               {20, 20, 20});
  const StepWork test = run_of({{kernel("a"), work({11.99, 12, 12.01})},
                                {kernel("b", "aten::add"), work({4.91, 5.01, 5.11})},
                                {kernel("d", "aten::exp"), work({0.99, 1, 1.01})}},
                               {21.01, 21.01, 21.01});
  const WhatChanged c = what_changed(base, test, {});
  ASSERT_TRUE(c.known);
  EXPECT_NEAR(c.step_time.base_ms, 20, 1e-9);
  EXPECT_NEAR(c.step_time.difference_ms, 1.01, 1e-9);
  EXPECT_TRUE(c.step_time.reported);
  for (const ChangeList* list : {&c.work, &c.operators, &c.steps}) {
    EXPECT_NEAR(sum_of(*list), 1.01, 1e-9);
    EXPECT_NEAR(list->explained_ms + list->below_ms + list->unexplained_ms, 1.01, 1e-9);
    double share = 0;
    for (const Change& change : list->rows)
      share += *change.share_percent;
    EXPECT_NEAR(share, 100, 1e-6);
  }
  EXPECT_EQ(c.rows, 5U + 5 + 3); // a b c d idle; four operators and idle; three steps
  ASSERT_EQ(c.work.reported, 3U);
  EXPECT_EQ(c.work.rows[2].name, "d");
  EXPECT_EQ(row(c.work, "a")->state, ChangeState::kBoth);
  EXPECT_EQ(row(c.work, "c")->state, ChangeState::kVanished);
  EXPECT_EQ(row(c.work, "d")->state, ChangeState::kNew);
  EXPECT_FALSE(row(c.work, "b")->reported);
  EXPECT_NEAR(*row(c.work, "a")->share_percent, 200 / 1.01, 1e-6);
  EXPECT_NEAR(c.work.explained_ms, 1, 1e-9);
  EXPECT_NEAR(c.work.unexplained_ms, 0.01, 1e-9);
  EXPECT_EQ(row(c.operators, "aten::mul")->state, ChangeState::kVanished);
  // Welch interval: both runs have a standard deviation of 0.01 and three samples; 13 rows
  const double half = student_t(4, 0.05 / 13) * std::sqrt(2 * 0.0001 / 3);
  EXPECT_NEAR(*row(c.work, "a")->low_ms, 2 - half, 1e-6);
  EXPECT_NEAR(*row(c.work, "a")->high_ms, 2 + half, 1e-6);

  // sheet: the step time, then for each list its significant rows and all other rows as one row
  const Table sheet = what_changed_table(c, "A", "B", false);
  ASSERT_EQ(sheet.name(), "What_Changed");
  EXPECT_EQ(sheet.at(0, "what").text, "step time");
  EXPECT_EQ(sheet.at(1, "#").i, 1);
  EXPECT_EQ(sheet.at(4, "what").text, "all else");
  EXPECT_NEAR(sheet.at(4, "difference (ms)").number(), 0.01, 1e-9);
  EXPECT_EQ(what_changed_table(c, "A", "B", true).rows(), 1 + c.rows);
}

// Steps of 10 10.1 9.9 10 ms in the baseline and 10 10 16 ms in the test: the third test step is an
// outlier and explains the complete difference of the means.
TEST(WhatChanged, AStepThatStandsOutIsNamed) {
  const StepWork base = run_of({}, {10, 10.1, 9.9, 10});
  const StepWork test = run_of({}, {10, 10, 16});
  const WhatChanged c = what_changed(base, test, {});
  ASSERT_EQ(c.steps.rows.size(), 3U);
  EXPECT_EQ(c.steps.rows[0].name, "3");
  EXPECT_TRUE(c.steps.rows[0].reported);
  EXPECT_EQ(c.steps.reported, 1U);
  EXPECT_NEAR(c.steps.rows[0].difference_ms, 2, 1e-9);
  // prediction interval of one step: t(3) at 0.05 / 5 rows, s^2 = 0.02 / 3, factor sqrt(1 + 1/4); a
  // step is a third of the mean
  const double half = student_t(3, 0.05 / 5) * std::sqrt(0.02 / 3 * 5 / 4) / 3;
  EXPECT_NEAR(*c.steps.rows[0].high_ms, 2 + half, 1e-6);
  // three baseline steps can be similar by chance
  EXPECT_EQ(what_changed(run_of({}, {10, 10.1, 9.9}), test, {}).steps.reported, 0U);
}

// Step times have heavy tails: 11.5 ms is outside the normal interval of the 24 baseline steps, but
// its distance from their mean is less than four times that of 10.6 ms, the baseline's farthest
// step.
TEST(WhatChanged, AStepInAHeavyTailIsNotNamed) {
  std::vector<double> ms(24);
  for (std::size_t s = 0; s < ms.size(); ++s)
    ms[s] = s == 3 ? 10.6 : s % 2 == 0 ? 9.9 : 10.1;
  std::vector<double> test = ms;
  test[5] = 11.5;
  EXPECT_EQ(what_changed(run_of({}, ms), run_of({}, test), {}).steps.reported, 0U);
  test[5] = 13;
  EXPECT_EQ(what_changed(run_of({}, ms), run_of({}, test), {}).steps.reported, 1U);
}

TEST(WhatChanged, WithoutSamplesNothingIsToldUnlessANoiseIsAssumed) {
  StepWork base = run_of({{kernel("a"), work({10})}}, {12});
  StepWork test = run_of({{kernel("a"), work({12})}}, {14});
  base.without_steps = test.without_steps = true;
  const WhatChanged plain = what_changed(base, test, {});
  ASSERT_TRUE(plain.known);
  EXPECT_FALSE(plain.step_time.reported);
  EXPECT_FALSE(plain.step_time.share_percent);
  EXPECT_EQ(plain.work.reported, 0U);
  EXPECT_TRUE(plain.steps.rows.empty());
  EXPECT_NEAR(plain.work.rows[0].difference_ms, 2, 1e-9);
  const WhatChanged assumed = what_changed(base, test, {1, 1.0});
  EXPECT_TRUE(assumed.assumed);
  EXPECT_EQ(assumed.work.reported, 1U);
  // one run has steps, the other has no steps: not comparable
  test.without_steps = false;
  EXPECT_FALSE(what_changed(base, test, {}).known);
  EXPECT_EQ(what_changed_table(what_changed(base, test, {}), "A", "B", false).rows(), 0U);
}

TEST(WhatChanged, AReplacedKernelIsMatchedByShapeAndPlace) {
  const std::vector<double> two = {2, 2.1, 1.9};
  const StepWork base = run_of({{kernel("old1"), work(two, 4, 0.2)},
                                {kernel("old2"), work(two, 4, 0.8)},
                                {kernel("gone", "aten::mm", "8x8 8x8"), work(two, 4, 0.5)}},
                               {10, 10, 10});
  const StepWork test = run_of({{kernel("new1"), work(two, 4, 0.21)},
                                {kernel("new2"), work(two, 4, 0.79)},
                                {kernel("other", "aten::mm", "9x9 9x9"), work(two, 4, 0.5)}},
                               {10, 10, 10});
  const auto pairs = replaced_kernels(base, test);
  ASSERT_EQ(pairs.size(), 2U);
  for (const auto& [then, now] : pairs) {
    EXPECT_EQ(then.name.substr(0, 3), "old");
    EXPECT_EQ(now.name, "new" + then.name.substr(3));
  }
  const WhatChanged c = what_changed(base, test, {});
  EXPECT_EQ(row(c.work, "new1")->state, ChangeState::kReplaced);
  EXPECT_EQ(row(c.work, "new1")->old_name, "old1");
  EXPECT_FALSE(row(c.work, "new1")->reported);
  EXPECT_EQ(row(c.work, "gone")->state, ChangeState::kVanished);
  EXPECT_EQ(row(c.work, "other")->state, ChangeState::kNew);
  EXPECT_NEAR(sum_of(c.work), 0, 1e-9);
}

TEST(WhatChanged, WhatStandsElsewhereIsNotReplaced) {
  const std::vector<double> ms = {2, 2, 2};
  const StepWork base = run_of({{kernel("old"), work(ms, 4, 0.5)}}, {10, 10, 10});
  const auto pairs_with = [&](const WorkKey& key, const Work& now) {
    return replaced_kernels(base, run_of({{key, now}}, {10, 10, 10})).size();
  };
  EXPECT_EQ(pairs_with(kernel("new"), work(ms, 4, 0.5)), 1U);
  EXPECT_EQ(pairs_with(kernel("new"), work(ms, 5, 0.5)), 0U); // more launches
  EXPECT_EQ(pairs_with(kernel("new", "aten::mm", "1x1"), work(ms, 4, 0.5)), 0U);
  Work far = work(ms, 4, 0.9);
  EXPECT_EQ(pairs_with(kernel("new"), far), 1U); // path and grid are the same
  far.grid = "[32,1,1]";
  EXPECT_EQ(pairs_with(kernel("new"), far), 0U);
  // a generated kernel has an operator with the same name
  const StepWork generated = run_of({{kernel("old", "old"), work(ms, 4, 0.5)}}, {10, 10, 10});
  const auto generated_with = [&](const WorkKey& key, const Work& now) {
    return replaced_kernels(generated, run_of({{key, now}}, {10, 10, 10})).size();
  };
  EXPECT_EQ(generated_with(kernel("new", "new"), work(ms, 4, 0.51)), 1U);
  EXPECT_EQ(generated_with(kernel("new", "new"), work(ms, 4, 0.6)), 0U);
  EXPECT_EQ(generated_with(kernel("new", "aten::mul"), work(ms, 4, 0.5)), 0U);
  EXPECT_EQ(pairs_with({StepWorkKind::kCollective, "aten::mm", "64x64 64x64", "new"}, work(ms)),
            0U);
}

TEST(WhatChanged, RanksAreJoinedOverTheirCommonSteps) {
  StepWork first = run_of({{kernel("a"), work({1, 2, 3}, 4, 0.2)}}, {2, 3, 4});
  StepWork two = run_of({{kernel("b"), work({5, 6}, 2, 0.4)}}, {7, 8});
  two.steps = {2, 5};
  const StepWork both = join_step_work({first, two});
  ASSERT_EQ(both.ranks, 2U);
  ASSERT_EQ(both.steps, std::vector<std::int64_t>{2});
  EXPECT_EQ(both.total_ns, std::vector<std::int64_t>{10 * kWhatChangedMs});
  EXPECT_EQ(both.work.at(kernel("a")).self_ns, std::vector<std::int64_t>{2 * kWhatChangedMs});
  EXPECT_EQ(both.work.at(kernel("a")).launches, 2); // 4 launches on one of two ranks
  EXPECT_NEAR(both.work.at(kernel("a")).place, 0.2, 1e-12);
  EXPECT_EQ(both.work.at({StepWorkKind::kIdle, "", "", "idle"}).self_ns,
            std::vector<std::int64_t>{3 * kWhatChangedMs});
  two.steps = {7, 8};
  EXPECT_EQ(join_step_work({first, two}).ranks, 0U);
  first.without_steps = true;
  EXPECT_EQ(join_step_work({first, first, two}).ranks, 0U);
  EXPECT_EQ(join_step_work({}).ranks, 0U);
}

// ST-C8: a kernel with another tile size is another kernel, so the state is not "renamed".
TEST(WhatChanged, AnotherKernelIsNotCalledRenamed) {
  const WhatChanged c =
      what_changed(run_of({{kernel("MT256"), work({4, 4.1, 3.9})}}, {9, 9, 9}),
                   run_of({{kernel("MT128"), work({2, 2.1, 1.9})}}, {7, 7, 7}), {});
  EXPECT_EQ(what_changed_table(c, "A", "B", false).at(1, "state").text, "replaced");
}

// ST-C9: every row differs significantly, by 0.6 %. The rest row must name the threshold, not the
// noise.
TEST(WhatChanged, AThresholdIsNotNoise) {
  const auto slower = [](double factor) {
    return run_of({{kernel("a"), work({10 * factor, 10.001 * factor, 9.999 * factor})},
                   {kernel("b"), work({5 * factor, 5.001 * factor, 4.999 * factor})}},
                  {16 * factor, 16.001 * factor, 15.999 * factor});
  };
  const WhatChanged c = what_changed(slower(1), slower(1.006), {});
  EXPECT_EQ(c.work.reported, 0U);
  EXPECT_EQ(c.work.below, 3U);
  EXPECT_NEAR(c.work.below_ms, 0.096, 1e-6);
  const Table sheet = what_changed_table(c, "A", "B", false);
  EXPECT_EQ(sheet.at(1, "name").text, "3 rows below the threshold of 1 %");
}

// ST-C11: with two equal steps per run, the interval had width 0. A clock with 1 us resolution has
// a standard deviation of 0.289 us.
TEST(WhatChanged, EqualStepsAreNoCertainty) {
  JudgeRule rule;
  rule.clock_ns = 1000;
  const WhatChanged c = what_changed(run_of({}, {10, 10}), run_of({}, {11, 11}), rule);
  const double half = student_t(2, 0.05) * std::sqrt(2 * (1e-6 / 12) / 2);
  EXPECT_NEAR(*c.step_time.high_ms - 1, half, 1e-9);
  EXPECT_GT(half, 0.001);
}

// Without an operator, kernels have no call path; two empty paths were evidence of a replacement.
TEST(WhatChanged, KernelsWithoutAnOperatorNeedGeometryAndPlace) {
  Work then = work({2, 2, 2});
  then.path = 0;
  Work now = then;
  now.grid = "[32,1,1]";
  const StepWork base = run_of({{kernel("attention", "", ""), then}}, {10, 10, 10});
  const auto pairs = [&base](const Work& other) {
    return replaced_kernels(base, run_of({{kernel("silu", "", ""), other}}, {10, 10, 10})).size();
  };
  EXPECT_EQ(pairs(now), 0U);
  EXPECT_EQ(pairs(then), 1U);
}

// ST no. 5, ST-C15: the wait for a late rank was part of the collective's own time.
TEST(WhatChanged, WaitsAtCollectivesAreARow) {
  const WorkKey reduce{StepWorkKind::kCollective, "c10d::allreduce_", "", "allreduce"};
  const auto run_waiting = [&](double wait_ms) {
    StepWork run = run_of({{reduce, work({1 + wait_ms, 1.001 + wait_ms, 0.999 + wait_ms})}},
                          {8 + wait_ms, 8 + wait_ms, 8 + wait_ms});
    run.work.at(reduce).wait_ns.assign(3, std::llround(wait_ms * kWhatChangedMs));
    run.waits_known = true;
    return run;
  };
  const WhatChanged c = what_changed(run_waiting(0.1), run_waiting(0.5), {});
  EXPECT_NEAR(row(c.work, "allreduce")->difference_ms, 0, 1e-9);
  ASSERT_EQ(c.work.reported, 1U);
  EXPECT_EQ(c.work.rows[0].what, "wait at collectives");
  EXPECT_NEAR(c.work.rows[0].difference_ms, 0.4, 1e-9);
  EXPECT_NEAR(sum_of(c.work), 0.4, 1e-9);
  EXPECT_NEAR(sum_of(c.operators), 0.4, 1e-9);
  // the waits of one run are unknown: waits are not subtracted in either run
  StepWork alone = run_waiting(0.5);
  alone.waits_known = false;
  EXPECT_EQ(what_changed(run_waiting(0.1), alone, {}).work.rows[0].what, "collective");
}

} // namespace
} // namespace rankscope
