#include "findings/condition_findings.h"

#include "findings/compose.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

struct ConditionAnswer {
  ConditionState state = ConditionState::kPassed;
  std::string words;
};

/// Returns what allows a test. Total and idle time contain the time between steps.
const char* more_samples(const Judgement& j) {
  return j.lacks_steps() ? "record at least three consecutive steps"
                         : "--assume-noise sets the noise";
}

ConditionAnswer answer_of(double percent, const DashboardRow* row, std::size_t test,
                          const std::string& why_not) {
  using enum ConditionState;
  if (!why_not.empty())
    return {kUnjudged, "nothing could be judged, because " + why_not};
  if (row == nullptr || !row->tests[test] || !row->tests[test]->value || !row->tests[test]->base)
    return {kUnjudged, "nothing could be judged, because the metric is not in both runs"};
  const DashboardCell& cell = *row->tests[test];
  const Judgement& j = cell.judgement;
  if (j.verdict == Verdict::kUnknown)
    return {kUnjudged, fmt::format("nothing could be judged from {} and {} samples ({})",
                                   j.samples_base, j.samples_test, more_samples(j))};
  const std::string values =
      fmt::format("{:.3f} {} against {:.3f}", *cell.value, row->unit, *cell.base);
  if (j.verdict == Verdict::kNew)
    return {kUnjudged, values + ": a change from 0 has no percentage"};
  if (!j.change)
    return {kPassed, values};
  const std::string words =
      fmt::format("{}{}; the samples are {}", values,
                  j.samples_base == j.samples_test ? "" : " in complete runs of different lengths",
                  change_text(j));
  const bool worse = -*j.change > percent && *j.high < 0;
  if (worse && goes_both_ways(j, cell.improvement.value_or(0)))
    return {kUnjudged, words + ": the complete traces differ in the other direction"};
  return {worse ? kRegression : kPassed, words};
}

} // namespace

JudgedCondition judge_condition(const std::string& condition, double percent,
                                const DashboardRow* row, std::size_t test, const std::string& label,
                                const std::string& why_not) {
  constexpr std::size_t kLabel = 40;
  ConditionAnswer answer = answer_of(percent, row, test, why_not);
  const bool met = answer.state == ConditionState::kRegression;
  const bool judged = answer.state != ConditionState::kUnjudged;
  JudgedCondition out;
  out.state = answer.state;
  out.finding = finding_of(met      ? rules::met_condition
                           : judged ? rules::passed_condition
                                    : rules::unjudged_condition,
                           "condition", label + ": " + condition);
  set_headline(out.finding, fmt::format("Condition {} {} for {}", brief(condition, kLabel),
                                        met      ? "is met"
                                        : judged ? "is not met"
                                                 : "is not judged",
                                        brief(label, kLabel)));
  out.finding.evidence = std::move(answer.words);
  if (row != nullptr && row->tests[test] && row->tests[test]->judgement.low) {
    const Judgement& j = row->tests[test]->judgement; // in the finding, positive is worse
    set_interval(out.finding, -*j.change, (*j.high - *j.low) / 2, Unit::kPercent);
    out.finding.steps = std::min(j.samples_base, j.samples_test);
    out.finding.scope = out.finding.steps > 2 ? FindingScope::kThisRun : FindingScope::kTheseSteps;
  }
  return out;
}

} // namespace rankscope
