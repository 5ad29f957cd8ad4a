// Tests findings of comparisons with hand-calculated values, intervals and directions.
#include "findings/comparison_findings.h"

#include "base/display_text.h"
#include "base/statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

constexpr double kNsPerMs = 1e6;

WorkKey kernel_key(const std::string& name, const std::string& op = "aten::mm",
                   const std::string& shapes = "64x64 64x64") {
  return {StepWorkKind::kKernel, op, shapes, name};
}

Work work_of(const std::vector<double>& ms) {
  Work out;
  for (const double v : ms)
    out.self_ns.push_back(std::llround(v * kNsPerMs));
  out.launches = 4;
  out.place = 0.5;
  out.path = 7;
  out.grid = "[16,1,1]";
  out.block = "[256,1,1]";
  return out;
}

/// Returns a run of one rank. The part of `total_ms` without work is idle time.
ComparedRun run_with(const std::string& label, const std::map<WorkKey, Work>& works,
                     const std::vector<double>& total_ms) {
  ComparedRun run;
  run.label = label;
  run.work.ranks = 1;
  run.work.work = works;
  Work idle;
  for (std::size_t s = 0; s < total_ms.size(); ++s) {
    run.work.steps.push_back(static_cast<std::int64_t>(s) + 1);
    run.work.total_ns.push_back(std::llround(total_ms[s] * kNsPerMs));
    std::int64_t busy = 0;
    for (const auto& [key, work] : works)
      busy += work.self_ns[s];
    idle.self_ns.push_back(run.work.total_ns.back() - busy);
  }
  run.work.work[{StepWorkKind::kIdle, "", "", "idle"}] = idle;
  return run;
}

void set_total_time(ComparedRun& run, const std::vector<double>& steps_ms, double complete_ms) {
  RankTimeline& rank = run.ranks[0];
  rank.kinds[TimeKind::kTotal] = {std::llround(complete_ms * kNsPerMs), 100};
  std::int64_t step = 0;
  for (const double ms : steps_ms)
    rank.step_ns[TimeKind::kTotal][++step] = std::llround(ms * kNsPerMs);
}

const Finding* with_rule(const std::vector<Finding>& findings, const std::string& rule,
                         const std::string& kind = "") {
  for (const Finding& f : findings)
    if (f.rule == rule && (kind.empty() || f.subject_kind == kind))
      return &f;
  return nullptr;
}

void expect_sound(const std::vector<Finding>& findings) {
  std::set<std::tuple<std::string_view, std::string, std::string>> names;
  for (const Finding& f : findings) {
    EXPECT_TRUE(names.insert({f.rule, f.subject_kind, f.subject}).second) << f.sentence();
    EXPECT_LE(display_width(f.headline), kHeadlineWidth) << f.headline;
    if (f.low && f.value) {
      EXPECT_LE(*f.low, *f.value) << f.sentence();
      EXPECT_GE(*f.high, *f.value) << f.sentence();
    }
  }
}

// Baseline 20 ms: a 10, b 5, c 2, idle 3; test 21.01 ms: a 12, b 5.01, d 1, idle 3.
TEST(ComparisonFindings, TheDifferenceAndItsPartsAgreeInSignAndInterval) {
  const std::vector<double> base_total = {19.99, 20, 20.01};
  const std::vector<double> test_total = {21, 21.01, 21.02};
  const auto base = run_with("A",
                             {{kernel_key("a"), work_of({9.99, 10, 10.01})},
                              {kernel_key("b", "aten::add"), work_of({4.9, 5, 5.1})},
                              {kernel_key("c", "aten::mul"), work_of({1.99, 2, 2.01})}},
                             base_total);
  const auto test = run_with("B",
                             {{kernel_key("a"), work_of({11.99, 12, 12.01})},
                              {kernel_key("b", "aten::add"), work_of({4.91, 5.01, 5.11})},
                              {kernel_key("d", "aten::exp"), work_of({0.99, 1, 1.01})}},
                             test_total);
  const Comparison c = compare_runs(base, {test}, {});
  const std::vector<Finding> found = comparison_findings(c).changes.at(0);
  expect_sound(found);

  const Finding& time = found.at(0);
  EXPECT_EQ(time.rule, "changed-step-time");
  EXPECT_EQ(time.headline, "The step time of B is 1.01 ms longer than that of A (5.1 %)");
  EXPECT_NEAR(*time.value, 1.01, 1e-9);
  // in both runs, steps have a standard deviation of 0.01; three samples each, no other comparison
  const double half = student_t(4, 0.05) * std::sqrt(2 * 0.0001 / 3);
  EXPECT_NEAR(*time.low, 1.01 - half, 1e-6);
  EXPECT_EQ(time.evidence, "95 % CI 0.99 to 1.03 ms; mean over steps and ranks: A 20.0 ms, B 21.0 "
                           "ms; 3 and 3 steps");
  EXPECT_EQ(time.cost_ms, time.value);
  EXPECT_EQ(time.scope, FindingScope::kThisRun);

  std::set<std::string> headlines;
  for (const Finding& f : found)
    if (f.rule == "changed-work")
      headlines.insert(f.headline);
  EXPECT_EQ(headlines,
            (std::set<std::string>{
                "Kernel a takes 2.00 ms more per step (198 % of the difference)",
                "Kernel c took 2.00 ms per step and is gone (offsets 198 % of the difference)",
                "Kernel d is new and takes 1.00 ms per step (99 % of the difference)"}));
  const Finding* const all = with_rule(found, "explained-difference");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(all->headline, "3 changed rows add up to +1.000 ms of the difference of +1.010 ms");
  EXPECT_NE(with_rule(found, "changed-operator"), nullptr);

  // with the runs exchanged, every number is the same and every word is the opposite
  const std::vector<Finding> back = comparison_findings(compare_runs(test, {base}, {})).changes[0];
  EXPECT_EQ(back.at(0).headline, "The step time of A is 1.01 ms shorter than that of B (4.8 %)");
  EXPECT_NEAR(*back.at(0).value, -1.01, 1e-9);
  EXPECT_EQ(back.at(0).evidence.substr(0, 23), "95 % CI 0.99 to 1.03 ms");
  EXPECT_FALSE(back.at(0).cost_ms);
}

TEST(ComparisonFindings, NoDifferenceSaysWhatTheStepsCouldHaveShown) {
  const auto run = [](const char* label, double ms) {
    return run_with(label, {}, {ms, ms + 0.1, ms - 0.1});
  };
  const std::vector<Finding> found =
      comparison_findings(compare_runs(run("A", 10), {run("B", 10.05)}, {})).changes[0];
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "same-step-time");
  EXPECT_EQ(found[0].kind, FindingKind::kNote);
  EXPECT_EQ(found[0].headline, "The step times of B and A do not differ significantly");
  ASSERT_TRUE(found[0].detectable);
  EXPECT_NEAR(*found[0].detectable, student_t(4, 0.05) * std::sqrt(2 * 0.01 / 3), 1e-6);
  EXPECT_NE(found[0].evidence.find("95 % CI of the difference -0.177 to 0.277 ms"),
            std::string::npos)
      << found[0].evidence;
}

TEST(ComparisonFindings, OneStepIsNotTested) {
  const std::vector<Finding> found =
      comparison_findings(compare_runs(run_with("A", {}, {10}), {run_with("B", {}, {12})}, {}))
          .changes[0];
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "untested-step-time");
  EXPECT_EQ(found[0].kind, FindingKind::kNote);
  EXPECT_FALSE(found[0].low);
  // an assumed noise of 1 % of each step: the evidence and the interval include it
  JudgeRule rule;
  rule.assumed_noise_percent = 1;
  const std::vector<Finding> assumed =
      comparison_findings(compare_runs(run_with("A", {}, {10}), {run_with("B", {}, {12})}, rule))
          .changes[0];
  EXPECT_EQ(assumed.at(0).rule, "changed-step-time");
  EXPECT_NE(assumed.at(0).evidence.find("the noise is assumed"), std::string::npos);
  EXPECT_EQ(assumed.at(0).scope, FindingScope::kTheseSteps);
}

// Steps 10, 10.1, 9.9, 10 against 10, 10, 16: the value is the difference of the outlier step, 6
// ms, not the third of it by which the mean changes.
TEST(ComparisonFindings, AStepHasItsOwnDifference) {
  const std::vector<Finding> found =
      comparison_findings(compare_runs(run_with("A", {}, {10, 10.1, 9.9, 10}),
                                       {run_with("B", {}, {10, 10, 16})}, {}))
          .changes[0];
  // one of three steps and none of four steps is outside: probability 3/7 by chance
  const Finding* const step = with_rule(found, "outlying-steps", "step");
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->kind, FindingKind::kNote);
  EXPECT_NE(step->evidence.find("the probability that A has no such step is 42.9 %"),
            std::string::npos)
      << step->evidence;
  EXPECT_EQ(with_rule(found, "changed-steps"), nullptr);
  EXPECT_EQ(step->subject, "3");
  EXPECT_NEAR(*step->value, 6, 1e-9);
  // prediction interval: t(3) at 0.05 / 5 rows, s^2 = 0.02 / 3, for one more sample
  EXPECT_NEAR(*step->high, 6 + student_t(3, 0.05 / 5) * std::sqrt(0.02 / 3 * 5 / 4), 1e-6);
  EXPECT_EQ(step->headline, "Step 3 of B takes 16.0 ms, 6.00 ms more than the mean step of A");
}

TEST(ComparisonFindings, AllStepsAreOneFinding) {
  const std::vector<Finding> found =
      comparison_findings(compare_runs(run_with("A", {}, {10, 10.1, 9.9, 10}),
                                       {run_with("B", {}, {15, 15.1, 14.9})}, {}))
          .changes[0];
  // all of three steps and none of four steps are outside: 3! 4! / 7!
  const Finding* const steps = with_rule(found, "changed-steps");
  ASSERT_NE(steps, nullptr);
  EXPECT_NE(steps->evidence.find("has no such step is 2.86 %"), std::string::npos)
      << steps->evidence;
  EXPECT_EQ(steps->headline, "All 3 steps of B are outside the step-to-step variation of A");
  EXPECT_EQ(with_rule(found, "changed-steps", "step"), nullptr);
}

// ST-C8: a kernel with another tile size is another kernel, so it is not called renamed. The names
// are long and have the same beginning.
TEST(ComparisonFindings, AReplacedKernelAndTheOtherHaveDistinctNames) {
  const std::string head(70, 'x');
  const std::string tail(90, 'y');
  const auto both = [&](const std::vector<double>& now) {
    const ComparedRun base =
        run_with("A", {{kernel_key(head + "MT256" + tail), work_of({4, 4.1, 3.9})}}, {9, 9, 9});
    const ComparedRun test =
        run_with("B", {{kernel_key(head + "MT128" + tail), work_of(now)}}, {9, 9, 9});
    return comparison_findings(compare_runs(base, {test}, {})).changes[0];
  };
  const std::vector<Finding> same = both({4, 4.1, 3.9});
  const Finding* const replaced = with_rule(same, "replaced-kernel");
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(replaced->kind, FindingKind::kNote);
  EXPECT_NE(replaced->headline.find(" is in place of another kernel"), std::string::npos);
  expect_sound(same);
  const std::vector<Finding> faster = both({2, 2.1, 1.9});
  const Finding* const changed = with_rule(faster, "changed-work", "kernel");
  ASSERT_NE(changed, nullptr);
  const std::size_t takes = changed->headline.find(" takes 2.00 ms less per step");
  const std::size_t old = changed->evidence.find("; in place of ");
  ASSERT_NE(takes, std::string::npos) << changed->headline;
  ASSERT_NE(old, std::string::npos) << changed->evidence;
  const std::string name = changed->headline.substr(7, takes - 7); // after "Kernel "
  const std::string old_name = changed->evidence.substr(old + 14, name.size());
  EXPECT_NE(name, old_name);
  for (const Finding& f : faster)
    EXPECT_EQ(f.sentence().find("renamed"), std::string::npos);
}

// ST-C9: every row differs significantly, by 0.6 %: the rows are below the threshold, not noise.
TEST(ComparisonFindings, AThresholdIsNotNoise) {
  const auto slower = [](const char* label, double factor) {
    return run_with(label,
                    {{kernel_key("a"), work_of({10 * factor, 10.001 * factor, 9.999 * factor})}},
                    {16 * factor, 16.001 * factor, 15.999 * factor});
  };
  const std::vector<Finding> found =
      comparison_findings(compare_runs(slower("A", 1), {slower("B", 1.006)}, {})).changes[0];
  const Finding* const all = with_rule(found, "explained-difference");
  ASSERT_NE(all, nullptr);
  EXPECT_NE(all->evidence.find("+0.096 ms is in 2 rows below the threshold of 1 %"),
            std::string::npos)
      << all->evidence;
  EXPECT_EQ(with_rule(found, "changed-work"), nullptr);
}

// ST-U7, ST-U8: the value and its interval are both those of the steps, and the sign agrees with
// the word.
TEST(ComparisonFindings, AMetricHasOneEstimate) {
  ComparedRun a = run_with("A", {}, {10, 10.1, 9.9});
  ComparedRun b = run_with("B", {}, {11, 11.1, 10.9});
  set_total_time(a, {10, 10.1, 9.9}, 40);
  set_total_time(b, {11, 11.1, 10.9}, 50); // complete runs: 25 % slower; their steps: 10 % slower
  const ComparisonFindings found = comparison_findings(compare_runs(a, {b}, {}));
  const Finding* const worse = with_rule(found.metrics[0], "worse-metric");
  ASSERT_NE(worse, nullptr);
  EXPECT_EQ(worse->headline, "GPU_total_time of B is 10.0 % worse than A");
  EXPECT_NEAR(*worse->value, 10, 1e-9);
  EXPECT_GT(*worse->low, 0);
  EXPECT_NEAR(*worse->low + *worse->high, 20, 1e-9);
  EXPECT_NE(worse->evidence.find("complete runs: 50.0 against 40.0 ms"), std::string::npos)
      << worse->evidence;
  const std::vector<Finding> back = comparison_findings(compare_runs(b, {a}, {})).metrics[0];
  const Finding* const better = with_rule(back, "better-metric");
  ASSERT_NE(better, nullptr);
  EXPECT_EQ(better->headline, "GPU_total_time of A is 9.1 % better than B");
  EXPECT_GT(*better->low, 0);
}

// A start skew of almost 0 in the baseline was "191061.96 % worse".
TEST(ComparisonFindings, ABaseOfAlmostZeroHasNoPercentage) {
  ComparedRun a = run_with("A", {}, {0.01, 0.0101, 0.0099});
  ComparedRun b = run_with("B", {}, {11, 11.1, 10.9});
  set_total_time(a, {0.01, 0.0101, 0.0099}, 0.04);
  set_total_time(b, {11, 11.1, 10.9}, 50);
  const ComparisonFindings found = comparison_findings(compare_runs(a, {b}, {}));
  const Finding* const worse = with_rule(found.metrics[0], "worse-metric");
  ASSERT_NE(worse, nullptr);
  EXPECT_EQ(worse->headline, "GPU_total_time of B is worse than A");
  EXPECT_EQ(worse->evidence, "Complete runs: 50.0 against 0.0400 ms; 3 and 3 steps");
}

// Parts that cancel were 593 % and more of a small difference.
TEST(ComparisonFindings, PartsFarAboveTheDifferenceHaveNoPercentage) {
  const auto base = run_with("A",
                             {{kernel_key("a"), work_of({9.99, 10, 10.01})},
                              {kernel_key("c", "aten::mul"), work_of({9.99, 10, 10.01})}},
                             {20.99, 21, 21.01});
  const auto test = run_with("B",
                             {{kernel_key("a"), work_of({15.99, 16, 16.01})},
                              {kernel_key("c", "aten::mul"), work_of({4.99, 5, 5.01})}},
                             {21.99, 22, 22.01});
  const std::vector<Finding> found =
      comparison_findings(compare_runs(base, {test}, {})).changes.at(0);
  const Finding* const changed = with_rule(found, "changed-work");
  ASSERT_NE(changed, nullptr);
  EXPECT_EQ(changed->headline, "Kernel a takes 6.00 ms more per step");
}

TEST(ComparisonFindings, MetricsWithoutAVerdictSayWhy) {
  ComparedRun a = run_with("A", {}, {});
  ComparedRun b = run_with("B", {}, {});
  const auto notes = [&](const std::vector<double>& then, double all_then,
                         const std::vector<double>& now, double all_now) {
    set_total_time(a, then, all_then);
    set_total_time(b, now, all_now);
    const auto found = comparison_findings(compare_runs(a, {b}, {})).metrics.at(0);
    a.ranks.clear();
    b.ranks.clear();
    return found.size() == 1 ? std::string(found[0].rule) : std::string("?");
  };
  EXPECT_EQ(notes({10, 10.1, 9.9}, 30, {10.01, 10.1, 9.9}, 30), "similar-metrics");
  EXPECT_EQ(notes({10, 10.001, 9.999}, 30, {10.05, 10.051, 10.049}, 30.2), "small-changes");
  EXPECT_EQ(notes({10, 10.1, 9.9}, 40, {12, 12.1, 11.9}, 36), "contradicting-metrics");
  EXPECT_EQ(notes({10, 10.1, 9.9}, 40, {10.05, 10.1, 9.9}, 36), "similar-metrics");
  EXPECT_EQ(notes({10}, 10, {12}, 12), "untested-metrics");
}

TEST(ComparisonFindings, MetricsOfDifferentWorkAreNotJudged) {
  const auto mm = [](const char* label, const char* shapes, double ms) {
    ComparedRun run =
        run_with(label, {{kernel_key("k", "aten::mm", shapes), work_of({6, 6})}}, {10, 10});
    set_total_time(run, {ms, ms + 0.1, ms - 0.1}, 3 * ms);
    return run;
  };
  const auto compared = [&](const char* shapes) {
    return compare_runs(mm("a", "64x64", 10), {mm("b", shapes, 20)}, {});
  };
  const Comparison same = compared("64x64");
  EXPECT_NE(with_rule(comparison_findings(same).metrics[0], "worse-metric"), nullptr);
  EXPECT_EQ(why_not_judged(same, 0), "");
  const Comparison different = compared("128x64");
  const std::vector<Finding> metrics = comparison_findings(different).metrics[0];
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].sentence(),
            "1 metric of b not tested. GPU_total_time: the runs do different work.");
  EXPECT_EQ(why_not_judged(different, 0), "the runs do different work");
}

TEST(ComparisonFindings, WhatMakesRunsHardToCompareComesFirst) {
  const auto note = [](const ComparedRun& base, const ComparedRun& test) {
    const ComparisonFindings found = comparison_findings(compare_runs(base, {test}, {}));
    EXPECT_LE(found.notes.size(), 1U);
    if (!found.notes.empty()) {
      EXPECT_EQ(found.all().front(), found.notes.front());
    }
    return found.notes.empty() ? Finding() : found.notes.front();
  };
  const auto mm = [](const char* label, const char* shapes) {
    return run_with(label, {{kernel_key("k", "aten::mm", shapes), work_of({6, 6})}}, {10, 10});
  };
  EXPECT_EQ(note(mm("a", "64x64"), mm("b", "64x64")).rule, "");
  const Finding work = note(mm("a", "64x64"), mm("b", "128x64"));
  EXPECT_EQ(work.rule, "different-work");
  EXPECT_EQ(work.sentence(),
            "a and b do different work per step. Operators with different shapes or numbers of "
            "launches take 100 % and 100 % of the kernel time of the two runs (most: aten::mm, "
            "64x64, 4 launches against 128x64, 4 launches). Times of different work are not judged "
            "(--any-work judges them).");
  ComparedRun first = run_with("a", {}, {10, 10});
  ComparedRun other = run_with("b", {}, {10, 10});
  first.operators = {{"aten::mm", 60}, {"aten::add", 40}};
  other.operators = {{"aten::add", 20}, {"aten::conv2d", 80}};
  EXPECT_EQ(note(first, other).sentence(),
            "a and b look like different workloads. 1 of 3 operators are in both runs and take 40 "
            "% and 20 % of the operators' GPU time. All values compare different programs.");
  // the first step has no total time, so the work of three steps is compared with that of one
  ComparedRun four = run_with("a", {}, {10, 10, 10});
  ComparedRun fewer = run_with("b", {}, {10});
  four.ranks[0].step_ns[TimeKind::kComputation] = {{1, 8}, {2, 8}, {3, 8}, {4, 8}};
  fewer.ranks[0].step_ns[TimeKind::kComputation] = {{1, 8}, {2, 8}};
  EXPECT_EQ(note(four, fewer).headline, "a has 4 steps and b has 2");
  ComparedRun no_steps = run_with("b", {}, {10});
  no_steps.work.without_steps = true;
  EXPECT_EQ(note(run_with("a", {}, {10}), no_steps).headline, "a has profiler steps, b does not");
  ComparedRun slow = run_with("a", {}, {10, 10});
  set_total_time(slow, {10, 10, 10, 10, 12, 12, 12, 12}, 88);
  slow.ranks[0].step_ns[TimeKind::kComputation] = slow.ranks[0].step_ns[TimeKind::kTotal];
  EXPECT_EQ(note(slow, slow).rule, "dependent-steps");
  ComparedRun raw = run_with("b", {}, {10, 10});
  ComparedRun aligned = run_with("a", {}, {10, 10});
  raw.collectives.summary.resize(1);
  aligned.collectives.summary.resize(1);
  raw.collectives.clocks = ClockState::kRaw;
  aligned.collectives.clocks = ClockState::kAligned;
  EXPECT_EQ(note(aligned, raw).headline, "The clocks of a are aligned and those of b are not");
  EXPECT_EQ(note(raw, aligned).headline, "The clocks of a are aligned and those of b are not");
  ComparedRun two = run_with("b", {}, {10, 10});
  two.ranks[0] = two.ranks[1] = {};
  ComparedRun single = run_with("a", {}, {10, 10});
  single.ranks[0] = {};
  EXPECT_EQ(note(single, two).headline, "a has 1 rank and b has 2");
  ComparedRun other_rank = run_with("b", {}, {10, 10});
  other_rank.ranks[1] = {};
  EXPECT_EQ(note(single, other_rank).headline, "a and b have different ranks");
}

// Six kernels are replaced, and one of them takes four times as long: no test, no significance.
TEST(ComparisonFindings, OneStepPerSideIsNotTested) {
  std::map<WorkKey, Work> then;
  std::map<WorkKey, Work> now;
  for (int i = 0; i < 6; ++i) {
    const std::string op = "aten::op" + std::to_string(i);
    then.emplace(kernel_key("old" + std::to_string(i), op), work_of({1}));
    now.emplace(kernel_key("new" + std::to_string(i), op), work_of({i == 0 ? 4.0 : 1.0}));
  }
  const Comparison c = compare_runs(run_with("A", then, {20}), {run_with("B", now, {23})}, {});
  const std::vector<Finding> found = comparison_findings(c).changes.at(0);
  const Finding* const replaced = with_rule(found, "replaced-kernel", "kernel");
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(replaced->evidence,
            "It replaces old0; their times are not tested; A 1.00 ms, B 4.00 ms");
  EXPECT_EQ(found.back().headline, "1 more kernel is replaced; their times are not tested");
  for (const Finding& f : found)
    EXPECT_EQ(f.sentence().find("significant"), std::string::npos) << f.sentence();
}

// Five steps per run with a correlation of 0.5, less than twice its error: 0.9 was printed.
TEST(ComparisonFindings, DependentStepsAreNotedIfClear) {
  const auto run = [](const char* label, const std::vector<double>& ms) {
    ComparedRun out = run_with(label, {}, {10, 10});
    set_total_time(out, ms, 100);
    out.ranks[0].step_ns[TimeKind::kComputation] = out.ranks[0].step_ns[TimeKind::kTotal];
    return out;
  };
  const auto notes = [](const ComparedRun& base, const ComparedRun& test) {
    std::vector<std::string> out;
    for (const Finding& f : comparison_findings(compare_runs(base, {test}, {})).notes)
      if (f.rule == "dependent-steps")
        out.push_back(f.sentence());
    return out;
  };
  const ComparedRun few = run("a", {10.3, 10.4, 10.1, 10, 10.2});
  EXPECT_GT(rule_of_runs(few, few, {}).step_correlation, 0.5);
  EXPECT_TRUE(notes(few, few).empty());
  const ComparedRun drifting = run("a", {10, 10, 10, 11, 11, 11, 12, 12, 12, 11, 11, 11});
  EXPECT_EQ(
      notes(drifting, run("b", {11, 11.2})),
      (std::vector<std::string>{
          "Successive steps of a depend on each other. Their lag-1 correlation is about 0.92; "
          "the intervals assume up to 0.95 and are wider because of this. Repeat the runs to "
          "be sure."}));
  EXPECT_TRUE(notes(drifting, run("b", {11})).empty()); // no interval
}

// Reports have no work of steps, but their steps are known.
TEST(ComparisonFindings, ReportsWithOtherNumbersOfStepsAreNoted) {
  const auto report = [](const char* label, int steps) {
    ComparedRun run;
    run.label = label;
    for (int s = 1; s <= steps; ++s)
      for (const TimeKind kind : {TimeKind::kTotal, TimeKind::kComputation})
        run.ranks[0].step_ns[kind][s] = 1'000'000 + s % 2;
    return run;
  };
  const auto found = comparison_findings(compare_runs(report("A", 6), {report("B", 4)}, {}));
  ASSERT_FALSE(found.notes.empty());
  EXPECT_EQ(found.notes[0].headline, "A has 6 steps and B has 4");
}

TEST(ComparisonFindings, SeveralTestsHaveDistinctSubjects) {
  const auto slower = [](const char* label, double ms) {
    return run_with(label, {{kernel_key("a"), work_of({ms, ms + 0.1, ms - 0.1})}},
                    {ms + 5, ms + 5.1, ms + 4.9});
  };
  const ComparisonFindings found =
      comparison_findings(compare_runs(slower("A", 10), {slower("B", 15), slower("C", 20)}, {}));
  ASSERT_EQ(found.changes.size(), 2U);
  expect_sound(found.all());
  EXPECT_EQ(with_rule(found.changes[1], "changed-work")->subject, "C: a of aten::mm 64x64 64x64");
}

// Seven kernels differ: five have a finding each, two are only counted.
TEST(ComparisonFindings, ManyChangesAreCounted) {
  std::map<WorkKey, Work> then;
  std::map<WorkKey, Work> now;
  for (int i = 0; i < 7; ++i) {
    const double ms = 1 + i;
    then[kernel_key("k" + std::to_string(i))] = work_of({ms, ms + 0.001, ms - 0.001});
    now[kernel_key("k" + std::to_string(i))] = work_of({2 * ms, 2 * ms + 0.001, 2 * ms - 0.001});
  }
  const std::vector<Finding> found =
      comparison_findings(
          compare_runs(run_with("A", then, {40, 40, 40}), {run_with("B", now, {68, 68, 68})}, {}))
          .changes[0];
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const Finding& f) { return f.rule == "changed-work"; }),
            5);
  const Finding* const more = with_rule(found, "more-changes", "row");
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->headline, "2 more rows differ significantly, by +3.000 ms per step in all");
  expect_sound(found);
}

// Traces without steps are compared as a whole.
TEST(ComparisonFindings, TracesWithoutStepsHaveNoTimesPerStep) {
  std::map<WorkKey, Work> then;
  std::map<WorkKey, Work> now;
  for (int i = 0; i < 7; ++i) {
    then[kernel_key("k" + std::to_string(i))] = work_of({1.0 + i});
    now[kernel_key("k" + std::to_string(i))] = work_of({2.0 + 2 * i});
  }
  now[kernel_key("new")] = work_of({1});
  ComparedRun base = run_with("A", then, {40});
  ComparedRun test = run_with("B", now, {69});
  base.work.without_steps = test.work.without_steps = true;
  base.ranks[0].kinds[TimeKind::kTotal] = {40'000'000, 100};
  test.ranks[0].kinds[TimeKind::kTotal] = {69'000'000, 100};
  for (const std::optional<double> noise : {std::optional<double>(), std::optional(1.0)}) {
    JudgeRule rule;
    rule.assumed_noise_percent = noise;
    const ComparisonFindings found = comparison_findings(compare_runs(base, {test}, rule));
    EXPECT_EQ(with_rule(found.changes[0], "more-changes", "row") != nullptr, noise.has_value());
    for (const Finding& f : found.all()) {
      EXPECT_EQ(f.sentence().find("per step"), std::string::npos) << f.sentence();
      EXPECT_EQ(f.sentence().find("0 steps"), std::string::npos) << f.sentence();
      EXPECT_EQ(f.sentence().find("single step"), std::string::npos) << f.sentence();
    }
  }
}

// Idle time is also a row in the list of operators, but has only one finding. Long names fit the
// headline.
TEST(ComparisonFindings, IdleTimeAndLongNames) {
  const WorkKey reduce{StepWorkKind::kCollective, "c10d::allreduce_", "1024",
                       "ncclDevKernel_AllReduce_Sum_bf16_RING_LL of 184586240 elements, group 0"};
  const auto run = [&](const char* label, double ms) {
    return run_with(label, {{reduce, work_of({ms, ms + 0.001, ms - 0.001})}},
                    {3 * ms, 3 * ms + 0.001, 3 * ms - 0.001});
  };
  const std::vector<Finding> found =
      comparison_findings(compare_runs(run("baseline", 5), {run("candidate", 6)}, {})).changes[0];
  expect_sound(found);
  const Finding* const idle = with_rule(found, "changed-work", "idle time");
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->headline, "Idle time takes 2.00 ms more per step (67 % of the difference)");
  const Finding* const slower = with_rule(found, "changed-work", "collective");
  ASSERT_NE(slower, nullptr);
  EXPECT_NE(slower->headline.find(
                "group 0 takes 1.00 ms more exposed time per step (33 % of the difference)"),
            std::string::npos)
      << slower->headline;
}

} // namespace
} // namespace rankscope
