#include "findings/comparison_findings.h"

#include "analyses/timeline/idle_causes.h"
#include "base/display_text.h"
#include "base/number_text.h"
#include "findings/compose.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kMostChanges = 5; ///< maximum number of separate findings per list
constexpr std::size_t kLabelWidth = 28;
constexpr double kDependentRuns = 0.3; ///< minimum lag-1 correlation of steps for a note

/// The names of the two runs of a comparison, for sentences.
struct Sides {
  std::string base, test; ///< labels, short enough for a headline
  std::string label;      ///< full label of the test
  std::string before;     ///< prefix of subjects; "" if there is only one test
  std::string note;       ///< if the noise is assumed: text at the end of the evidence
  std::map<std::string, std::string> kernels; ///< short names by full name
};

Sides sides_of(const Comparison& c, std::size_t test) {
  return {brief(c.base.label, kLabelWidth),
          brief(c.tests[test].label, kLabelWidth),
          c.tests[test].label,
          c.tests.size() > 1 ? c.tests[test].label + ": " : std::string(),
          {},
          {}};
}

FindingScope compared_scope(std::size_t steps) {
  return steps > 2 ? FindingScope::kThisRun : FindingScope::kTheseSteps;
}

/// Returns the interval of an amount without sign: for something that is shorter, -3 to -1 is "1 to
/// 3".
std::string interval_amounts(double difference, double low, double high) {
  return difference < 0 ? range3(-high, -low) : range3(low, high);
}

// ---- comparability

/// Returns "rank 1 of A and ranks 2 to 4 of B lost events", or an empty text. `a` and `b` are the
/// names of the runs.
std::string lost_events_text(const ComparedRun& base, const ComparedRun& test, const std::string& a,
                             const std::string& b) {
  std::string out;
  const auto add = [&out](const std::vector<std::int64_t>& ranks, const std::string& label) {
    if (!ranks.empty())
      out += fmt::format("{}{} {} of {}", out.empty() ? "" : " and ",
                         ranks.size() == 1 ? "rank" : "ranks", ranges_text(ranks), label);
  };
  add(base.damaged, a);
  add(test.damaged, b);
  return out.empty() ? out : out + " lost events";
}

/// Returns a finding about whether two runs can be compared.
Finding comparability_note(const FindingRule& rule, const Sides& sides, std::string headline,
                           std::string evidence) {
  Finding out = finding_of(rule, "run", sides.label);
  set_headline(out, std::move(headline));
  out.evidence = std::move(evidence);
  return out;
}

/// Returns what differs between the profiler steps of two runs, if anything does.
std::optional<Finding> steps_note(const ComparedRun& base, const ComparedRun& test,
                                  const Sides& sides) {
  const bool traces = base.work.ranks > 0 && test.work.ranks > 0; // else reports
  if (traces && base.work.without_steps != test.work.without_steps) {
    const bool first = !base.work.without_steps;
    return comparability_note(rules::different_steps, sides,
                              fmt::format("{} has profiler steps, {} does not",
                                          first ? sides.base : sides.test,
                                          first ? sides.test : sides.base),
                              "Changes between the two runs are not reported");
  }
  const std::size_t of_base = step_count(base), of_test = step_count(test);
  if (of_base == 0 || of_test == 0 || (of_base == of_test && same_idle_time(base, test)))
    return std::nullopt;
  return comparability_note(
      rules::different_steps, sides,
      fmt::format("{} has {} and {} has {}{}", sides.base, counted(of_base, "step", "steps"),
                  sides.test, of_test,
                  of_base == of_test ? ", not all with the idle time before them" : ""),
      same_idle_time(base, test)
          ? "Values of complete traces cover different lengths of time; values per step are "
            "comparable"
          : "Without three steps with consecutive numbers on a rank, the idle time between steps "
            "is left out, so total and idle time are not compared, and changes are not reported");
}

std::vector<Finding> comparability_notes(const Comparison& c, std::size_t i) {
  const ComparedRun& base = c.base;
  const ComparedRun& test = c.tests[i];
  const Sides sides = sides_of(c, i);
  std::vector<Finding> out;
  const auto add = [&](const FindingRule& rule, std::string headline, std::string evidence) {
    out.push_back(comparability_note(rule, sides, std::move(headline), std::move(evidence)));
  };
  const Comparability& alike = c.comparability[i];
  if (alike.operators && alike.operators->differs())
    out.push_back(different_workload(*alike.operators, base.label, test.label));
  if (alike.work.differs()) {
    out.push_back(different_work(alike.work, base.label, test.label,
                                 !base.work.without_steps || !test.work.without_steps));
    out.back().action = c.rules[i].any_work
                            ? "The verdicts Better and Worse compare times of different work"
                            : "Times of different work are not judged (--any-work judges them)";
  }
  if (!same_ranks(base, test)) {
    out.push_back(different_ranks(base, test));
    out.back().evidence += "; collectives over all ranks and changes of steps are not compared";
  }
  if (auto note = steps_note(base, test, sides))
    out.push_back(std::move(*note));
  if (alike.step_correlation.value_or(0) >= kDependentRuns &&
      std::min(step_count(base), step_count(test)) > 1) {
    std::vector<std::string> runs; // shorter runs have no correlation
    for (const ComparedRun* run : {&base, &test})
      if (step_count(*run) > 2)
        runs.push_back(run == &base ? sides.base : sides.test);
    add(rules::dependent_steps,
        fmt::format("Successive steps of {} depend on each other", fmt::join(runs, " and ")),
        fmt::format("Their lag-1 correlation is about {:.2f}; the intervals assume up to {:.2f} "
                    "and are wider because of this",
                    *alike.step_correlation, c.rules[i].step_correlation));
    out.back().action = "Repeat the runs to be sure";
  }
  const auto raw = [](const ComparedRun& run) {
    return run.collectives.clocks == ClockState::kRaw;
  };
  if (!base.collectives.summary.empty() && !test.collectives.summary.empty() &&
      raw(base) != raw(test))
    add(rules::different_clocks,
        fmt::format("The clocks of {} are aligned and those of {} are not",
                    raw(base) ? sides.test : sides.base, raw(base) ? sides.base : sides.test),
        "Start skews are not compared");
  return out;
}

// ---- metrics

std::string metric_value(const DashboardRow& row, const DashboardCell& cell) {
  if (!cell.value || !cell.base)
    return {};
  std::string test = number3(*cell.value), base = number3(*cell.base);
  if (test == base) { // three digits do not show the difference
    test = fmt::format("{:.3f}", *cell.value);
    base = fmt::format("{:.3f}", *cell.base);
  }
  return fmt::format("complete runs: {} against {} {}", test, base, row.unit);
}

/// Returns whether a change can be given in percent of the baseline: the baseline is at least 1 %
/// of the difference, and above the noise. Start skews, for example, can be almost 0.
bool has_percent(const Judgement& j) {
  constexpr double kMostPercent = 100 * 100;
  return std::fabs(*j.change) <= kMostPercent && (!j.low || *j.high - *j.low <= 2 * 100);
}

/// Returns "; 6 and 6 steps"; empty without steps.
std::string samples_of_both(std::size_t base, std::size_t test) {
  return base + test == 0 ? std::string() : fmt::format("; {} and {} steps", base, test);
}

Finding changed_metric(const DashboardRow& row, const DashboardCell& cell, const Sides& sides) {
  const Judgement& j = cell.judgement;
  const bool worse = *j.change < 0;
  Finding out = finding_of(worse ? rules::worse_metric : rules::better_metric, "metric",
                           sides.before + row.metric);
  set_interval(out, std::fabs(*j.change), (*j.high - *j.low) / 2, Unit::kPercent);
  out.steps = std::min(j.samples_base, j.samples_test);
  out.scope = compared_scope(out.steps);
  const bool percent = has_percent(j);
  set_headline(out, fmt::format("{} of {} is {}{} than {}", row.metric, sides.test,
                                percent ? percent_text(*out.value) + " " : "",
                                worse ? "worse" : "better", sides.base));
  if (percent)
    out.evidence = fmt::format("; 95 % CI {} %", range3(*out.low, *out.high));
  if (const std::string values = metric_value(row, cell); !values.empty())
    out.evidence += "; " + values;
  out.evidence += samples_of_both(j.samples_base, j.samples_test);
  if (j.assumed)
    out.evidence += "; the noise is assumed";
  out.evidence = out.evidence.empty() ? "" : capital(out.evidence.substr(2));
  return out;
}

/// Collects the metrics that are neither better nor worse, by reason, and makes one note per
/// reason.
class OtherMetrics {
public:
  void add(const DashboardRow& row, const DashboardCell& cell) {
    const Judgement& j = cell.judgement;
    const double improvement = cell.improvement.value_or(0);
    const bool significant = j.low && (*j.low > 0 || *j.high < 0);
    if (j.verdict == Verdict::kUnknown) { // with an interval: the runs do different work
      (j.low ? other_work_ : j.lacks_steps() ? without_steps_ : untested_).push_back(row.metric);
    } else if (j.verdict == Verdict::kSimilar && significant && goes_both_ways(j, improvement)) {
      contradicting_.push_back(row.metric);
    } else if (below_threshold(j, improvement)) {
      small_.push_back(fmt::format("{} {}", row.metric, change_text(j)));
    } else if (j.verdict == Verdict::kSimilar) {
      similar_.push_back(row.metric);
    }
  }
  void findings(const Sides& sides, double threshold_percent, std::vector<Finding>& out) const {
    const auto note = [&](const FindingRule& rule, const std::vector<std::string>& metrics,
                          std::string headline, const std::string& after) {
      if (metrics.empty())
        return;
      Finding f = finding_of(rule, "run", sides.label);
      f.value = static_cast<double>(metrics.size());
      f.unit = Unit::kCount;
      set_headline(f, std::move(headline));
      f.evidence = joined(metrics, "and") + after;
      out.push_back(std::move(f));
    };
    note(rules::small_changes, small_,
         fmt::format("{} of {} {} significantly from {}, but by less than the threshold of {} %",
                     counted(small_.size(), "metric", "metrics"), sides.test,
                     small_.size() == 1 ? "differs" : "differ", sides.base, threshold_percent),
         "");
    note(rules::similar_metrics, similar_,
         fmt::format("{} of {} {} not differ significantly from {}",
                     counted(similar_.size(), "metric", "metrics"), sides.test,
                     similar_.size() == 1 ? "does" : "do", sides.base),
         "; all metrics of a kind are tested together, so a test of one alone can show less");
    note(rules::contradicting_metrics, contradicting_,
         fmt::format("{} of {} {} one way in the steps and the other way in the complete runs",
                     counted(contradicting_.size(), "metric", "metrics"), sides.test,
                     contradicting_.size() == 1 ? "differs" : "differ"),
         "");
    const auto not_tested = [&](const std::vector<std::string>& metrics, const char* why) {
      note(rules::untested_metrics, metrics,
           fmt::format("{} of {} not tested", counted(metrics.size(), "metric", "metrics"),
                       sides.test),
           why);
    };
    not_tested(untested_, ": one of the runs has fewer than two samples, so there is no interval "
                          "(--assume-noise gives one for a single sample)");
    not_tested(other_work_, ": the runs do different work");
    not_tested(without_steps_, ": one of the runs has no samples, because they need at least three "
                               "consecutive steps");
  }

private:
  std::vector<std::string> small_, similar_, contradicting_, untested_, other_work_, without_steps_;
};

void add_metric_findings(const Comparison& c, std::size_t i, const Sides& sides,
                         std::vector<Finding>& out) {
  OtherMetrics others;
  for (const DashboardRow& row : c.dashboard.rows) {
    if (!row.tests[i])
      continue;
    const Verdict verdict = row.tests[i]->judgement.verdict;
    if (verdict == Verdict::kBetter || verdict == Verdict::kWorse)
      out.push_back(changed_metric(row, *row.tests[i], sides));
    else
      others.add(row, *row.tests[i]);
  }
  others.findings(sides, c.rule.threshold_percent, out);
}

// ---- parts of the step time difference

void set_change(Finding& out, const Change& row, const WhatChanged& changed) {
  out.value = row.difference_ms;
  out.unit = Unit::kMs;
  out.low = row.low_ms;
  out.high = row.high_ms;
  out.steps = std::min(changed.base_steps, changed.test_steps);
  out.scope = compared_scope(out.steps);
  if (row.difference_ms > 0 && !changed.without_steps)
    out.cost_ms = row.difference_ms;
}

/// Returns " per step"; empty if complete traces are compared.
const char* per_step(const WhatChanged& changed) {
  return changed.without_steps ? "" : " per step";
}

std::string over_comparisons(std::size_t comparisons) {
  return comparisons > 1 ? fmt::format(" over {} comparisons", comparisons) : std::string();
}

/// Returns "95 % CI 0.087 to 0.146 ms over 68 comparisons"; the interval is without sign.
std::string change_interval(const Change& row, std::size_t comparisons) {
  return fmt::format("95 % CI {} ms{}",
                     interval_amounts(row.difference_ms, *row.low_ms, *row.high_ms),
                     over_comparisons(comparisons));
}

std::string both_times(const Change& row, const Sides& sides) {
  return fmt::format("{} {} ms, {} {} ms", sides.base, number3(row.base_ms), sides.test,
                     number3(row.test_ms));
}

Finding step_time_finding(const WhatChanged& changed, const Sides& sides) {
  const Change& row = changed.step_time;
  const char* const what = changed.without_steps ? "trace" : "step";
  const FindingRule& rule = !row.low_ms    ? rules::untested_step_time
                            : row.reported ? rules::changed_step_time
                                           : rules::same_step_time;
  Finding out = finding_of(rule, "run", sides.label);
  set_change(out, row, changed);
  const std::string means = fmt::format(
      "mean over {}ranks: {}{}", changed.without_steps ? "" : "steps and ", both_times(row, sides),
      changed.without_steps ? "" : samples_of_both(changed.base_steps, changed.test_steps));
  if (!row.low_ms) {
    set_headline(out, fmt::format("The {} time of {} is {} ms {} than that of {}, without a test",
                                  what, sides.test, number3(std::fabs(row.difference_ms)),
                                  row.difference_ms < 0 ? "shorter" : "longer", sides.base));
    out.evidence = capital(means) + fmt::format("; a single {} gives no interval", what);
    out.cost_ms.reset();
    return out;
  }
  if (row.reported) {
    set_headline(out, fmt::format("The {} time of {} is {} ms {} than that of {} ({})", what,
                                  sides.test, number3(std::fabs(row.difference_ms)),
                                  row.difference_ms < 0 ? "shorter" : "longer", sides.base,
                                  percent_text(100 * std::fabs(row.difference_ms) / row.base_ms)));
    out.evidence = fmt::format("{}; {}{}", change_interval(row, 1), means, sides.note);
    return out;
  }
  set_headline(out, fmt::format("The {} times of {} and {} do not differ significantly", what,
                                sides.test, sides.base));
  out.cost_ms.reset();
  out.detectable = (*row.high_ms - *row.low_ms) / 2;
  out.evidence = fmt::format("95 % CI of the difference {} ms; {}{}",
                             range3(*row.low_ms, *row.high_ms), means, sides.note);
  return out;
}

/// Returns short names for the kernels in findings. If full names differ, their short names differ
/// too.
std::map<std::string, std::string> kernel_names_of(const WhatChanged& changed) {
  std::set<std::string> full;
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < changed.work.rows.size(); ++i) {
    const Change& row = changed.work.rows[i];
    const bool reported = i < std::min(kMostChanges, changed.work.reported);
    if (row.what != "kernel" ||
        (!reported && (row.state != ChangeState::kReplaced || ++replaced > 2 * kMostChanges)))
      continue;
    full.insert(row.name);
    if (row.state == ChangeState::kReplaced)
      full.insert(row.old_name);
  }
  const std::vector<std::string> shorter = distinct_names({full.begin(), full.end()});
  std::map<std::string, std::string> out;
  std::size_t at = 0;
  for (const std::string& name : full)
    out.emplace(name, shorter[at++]);
  return out;
}

/// Returns the short name of a kernel; other names are returned unchanged.
const std::string& name_of(const std::string& name, const Sides& sides) {
  const auto found = sides.kernels.find(name);
  return found == sides.kernels.end() ? name : found->second;
}

std::string part_of_difference(const Change& row) {
  constexpr double kShown = 0.5; // a smaller value rounds to 0 or -0
  constexpr double kMost = 200;  // the parts cancel: the difference is small against them
  return row.share_percent && std::abs(*row.share_percent) >= kShown &&
                 std::abs(*row.share_percent) <= kMost
             ? fmt::format(" ({}{:.0f} % of the difference)",
                           *row.share_percent < 0 ? "offsets " : "", std::abs(*row.share_percent))
             : std::string();
}

/// Returns "Kernel" or "Idle time before launches".
std::string words_of(const Change& row) {
  const std::string what = capital(row.what);
  if (row.what != "idle time")
    return what;
  const auto is = [&row](IdleCause cause) { return row.name == idle_cause_name(cause); };
  return what + (is(IdleCause::kHost)              ? " before launches"
                 : is(IdleCause::kSynchronisation) ? " while the host waits for the GPU"
                 : is(IdleCause::kLaunch)          ? " between launch and start"
                 : is(IdleCause::kQueued)          ? " with launched work"
                                                   : "");
}

/// Sets the headline to "Kernel K" or "Idle time" and `rest`. A long name is shortened.
void set_change_headline(Finding& out, const Change& row, const Sides& sides, std::string rest) {
  constexpr std::size_t kShortest = 16;
  const std::string what = words_of(row);
  const bool named = row.what != "idle time" && row.what != "wait at collectives";
  const std::string& name = name_of(row.name, sides);
  const std::size_t name_width = named ? 1 + std::min(display_width(name), kShortest) : 0;
  if (const std::string part = part_of_difference(row);
      display_width(what) + name_width + display_width(rest + part) <= kHeadlineWidth)
    rest += part;
  if (!named)
    return set_headline(out, what + rest);
  const std::size_t used_width = display_width(what) + 1 + display_width(rest);
  set_headline(out,
               what + " " +
                   brief(name, kHeadlineWidth - std::min(used_width, kHeadlineWidth - kShortest)) +
                   rest);
}

/// Returns a name for a row that is unique in its list.
std::string change_subject(const Change& row) {
  std::string out = row.name;
  if (!row.op.empty() && row.what != "operator")
    out += " of " + row.op;
  if (!row.shapes.empty())
    out += " " + row.shapes;
  return out;
}

Finding work_finding(const Change& row, const WhatChanged& changed, const Sides& sides) {
  Finding out = finding_of(row.what == "operator" ? rules::changed_operator : rules::changed_work,
                           row.what, sides.before + change_subject(row));
  set_change(out, row, changed);
  const std::string amount = number3(std::fabs(row.difference_ms));
  const char* const direction = row.difference_ms < 0 ? "less" : "more";
  // own times do not contain what other work hides
  const bool exposed = row.what == "collective" || row.what == "copy";
  const std::string takes =
      fmt::format("{} ms{}{}", amount, exposed ? " of exposed time" : "", per_step(changed));
  switch (row.state) {
  case ChangeState::kBoth:
  case ChangeState::kReplaced:
    set_change_headline(out, row, sides,
                        fmt::format(" takes {} ms {}{}{}", amount, direction,
                                    exposed ? " exposed time" : "", per_step(changed)));
    break;
  case ChangeState::kNew:
    set_change_headline(out, row, sides, fmt::format(" is new and takes {}", takes));
    break;
  case ChangeState::kVanished:
    set_change_headline(out, row, sides, fmt::format(" took {} and is gone", takes));
    break;
  }
  out.evidence = change_interval(row, changed.rows) + "; " + both_times(row, sides);
  if (row.what == "operator")
    out.evidence += "; without time that other GPU work hides";
  if (row.state == ChangeState::kReplaced)
    out.evidence += "; in place of " + brief(name_of(row.old_name, sides), kHeadlineWidth);
  if (!row.op.empty() && row.what != "operator")
    out.evidence += "; called by " + brief(row.op, kHeadlineWidth);
  if (!row.shapes.empty())
    out.evidence += " " + brief(row.shapes, kHeadlineWidth);
  out.evidence += sides.note;
  return out;
}

/// Returns a probability: if the steps outside of the variation occur by chance in any of the steps
/// of both runs, how probable is it that all of them are in the test? (One-sided Fisher's exact
/// test, `reported` steps in the test and no step in the baseline.)
double chance_of_steps_outside(const WhatChanged& changed) {
  const auto test = static_cast<double>(changed.test_steps);
  const double both = test + static_cast<double>(changed.base_steps);
  double out = 1;
  for (std::size_t i = 0; i < changed.steps.reported; ++i)
    out *= (test - static_cast<double>(i)) / (both - static_cast<double>(i));
  return out;
}

/// If only a few steps are outside, this does not show that the runs differ, because the baseline
/// may have such steps too.
const FindingRule& rule_of_steps(const WhatChanged& changed) {
  return chance_of_steps_outside(changed) > 0.05 ? rules::outlying_steps : rules::changed_steps;
}

/// Returns the last part of the evidence.
std::string baseline_without_such_steps(const WhatChanged& changed, const Sides& sides) {
  return fmt::format("; if such steps are equally frequent in both runs, the probability that {} "
                     "has no such step is {} %",
                     sides.base, number3(100 * chance_of_steps_outside(changed)));
}

/// Compares a step with the mean step of the baseline. The value is the difference of this step,
/// not its part of the difference between the means.
Finding step_finding(const Change& row, const WhatChanged& changed, const Sides& sides) {
  Finding out = finding_of(rule_of_steps(changed), "step", sides.before + row.name);
  const double difference = row.test_ms - row.base_ms;
  const auto steps = static_cast<double>(changed.steps.rows.size());
  set_change(out, row, changed);
  set_interval(out, difference, steps * (*row.high_ms - *row.low_ms) / 2, Unit::kMs);
  out.cost_ms.reset(); // the cost is that of one step, not a mean over steps
  set_headline(out,
               fmt::format("Step {} of {} takes {} ms, {} ms {} than the mean step of {}", row.name,
                           sides.test, number3(row.test_ms), number3(std::fabs(difference)),
                           difference < 0 ? "less" : "more", sides.base));
  out.evidence = fmt::format("95 % prediction interval {} ms{}; mean step of {}: {} ms",
                             interval_amounts(difference, *out.low, *out.high),
                             over_comparisons(changed.rows), sides.base, number3(row.base_ms)) +
                 baseline_without_such_steps(changed, sides);
  return out;
}

Finding all_steps_finding(const WhatChanged& changed, const Sides& sides) {
  const ChangeList& steps = changed.steps;
  Finding out = finding_of(rule_of_steps(changed), "run", sides.label);
  out.value = static_cast<double>(steps.reported);
  out.unit = Unit::kCount;
  out.steps = steps.reported;
  out.scope = compared_scope(out.steps);
  const auto [least, most] =
      std::minmax_element(steps.rows.begin(), steps.rows.end(),
                          [](const Change& a, const Change& b) { return a.test_ms < b.test_ms; });
  set_headline(out, fmt::format("All {} steps of {} are outside the step-to-step variation of {}",
                                steps.reported, sides.test, sides.base));
  out.evidence = fmt::format("{} ms against a mean of {} ms; 95 % prediction intervals{}",
                             range3(least->test_ms, most->test_ms), number3(least->base_ms),
                             over_comparisons(changed.rows)) +
                 baseline_without_such_steps(changed, sides);
  return out;
}

Finding more_changes(const std::vector<const Change*>& rows, const char* singular,
                     const char* plural, const WhatChanged& changed, const Sides& sides) {
  Finding out = finding_of(rules::more_changes, singular, sides.label);
  out.value = static_cast<double>(rows.size());
  out.unit = Unit::kCount;
  double sum = 0;
  for (const Change* row : rows)
    sum += row->difference_ms;
  set_headline(out, fmt::format("{} more {} significantly, by {} ms{} in all", rows.size(),
                                rows.size() == 1 ? fmt::format("{} differs", singular)
                                                 : fmt::format("{} differ", plural),
                                fixed_text(sum, 3, Plus::kWritten), per_step(changed)));
  out.evidence = "Sheet What_Changed of the workbook lists them (--output)";
  return out;
}

Finding explained_difference(const WhatChanged& changed, const Sides& sides) {
  const ChangeList& work = changed.work;
  const auto ms = [](double value) { return fixed_text(value, 3, Plus::kWritten); };
  Finding out = finding_of(rules::explained_difference, "run", sides.label);
  out.value = work.explained_ms;
  out.unit = Unit::kMs;
  set_headline(out, fmt::format("{} up to {} ms of the difference of {} ms",
                                counted(work.reported, "changed row adds", "changed rows add"),
                                ms(work.explained_ms), ms(changed.step_time.difference_ms)));
  out.evidence = "Rows are kernels, collectives, copies, idle time and waits";
  if (work.below > 0)
    out.evidence += fmt::format("; {} ms is in {} below the threshold of {} %", ms(work.below_ms),
                                counted(work.below, "row", "rows"), changed.threshold_percent);
  out.evidence += fmt::format("; {} ms is not significant", ms(work.unexplained_ms));
  return out;
}

/// Adds kernels that replace other kernels, and whose times do not differ or are not tested.
void add_replaced(const WhatChanged& changed, const Sides& sides, std::vector<Finding>& out) {
  const bool tested = changed.step_time.low_ms.has_value(); // as all rows of the work
  std::size_t replaced = 0;
  for (std::size_t i = changed.work.reported; i < changed.work.rows.size(); ++i) {
    const Change& row = changed.work.rows[i];
    if (row.state != ChangeState::kReplaced || ++replaced > kMostChanges)
      continue;
    Finding f = finding_of(rules::replaced_kernel, row.what, sides.before + change_subject(row));
    set_change(f, row, changed);
    f.cost_ms.reset();
    set_change_headline(f, row, sides, " is in place of another kernel");
    f.evidence = fmt::format(
        "It replaces {}; {}; {}", brief(name_of(row.old_name, sides), kHeadlineWidth),
        row.below_threshold ? fmt::format("its time differs by less than the threshold of {} %",
                                          changed.threshold_percent)
        : tested            ? std::string("their times do not differ significantly")
                            : std::string("their times are not tested"),
        both_times(row, sides));
    out.push_back(std::move(f));
  }
  if (replaced > kMostChanges) {
    Finding f = finding_of(rules::replaced_kernel, "run", sides.label);
    f.value = static_cast<double>(replaced - kMostChanges);
    f.unit = Unit::kCount;
    set_headline(f, counted(replaced - kMostChanges, "more kernel is", "more kernels are") +
                        (tested ? " replaced without a significant or large change of time"
                                : " replaced; their times are not tested"));
    f.evidence = "Sheet What_Changed of the workbook lists them (--output)";
    out.push_back(std::move(f));
  }
}

void add_changes(const WhatChanged& changed, const Sides& sides, std::vector<Finding>& out) {
  out.push_back(step_time_finding(changed, sides));
  const auto add_list = [&](const ChangeList& list, const char* singular, const char* plural,
                            Finding (*finding)(const Change&, const WhatChanged&, const Sides&)) {
    std::vector<const Change*> rows;
    for (std::size_t i = 0; i < list.reported;
         ++i) // without idle time, which is in the first list too
      if (&list != &changed.operators || list.rows[i].what == "operator")
        rows.push_back(&list.rows[i]);
    for (std::size_t i = 0; i < std::min(kMostChanges, rows.size()); ++i)
      out.push_back(finding(*rows[i], changed, sides));
    if (rows.size() > kMostChanges)
      out.push_back(more_changes({rows.begin() + kMostChanges, rows.end()}, singular, plural,
                                 changed, sides));
  };
  add_list(changed.work, "row", "rows", work_finding);
  if (changed.step_time.reported && changed.work.reported + changed.work.below > 0)
    out.push_back(explained_difference(changed, sides));
  add_list(changed.operators, "operator", "operators", work_finding);
  if (changed.steps.reported > 1 && changed.steps.reported == changed.steps.rows.size())
    out.push_back(all_steps_finding(changed, sides));
  else
    add_list(changed.steps, "step", "steps", step_finding);
  add_replaced(changed, sides, out);
}

} // namespace

Finding different_workload(const WorkloadOverlap& overlap, const std::string& base,
                           const std::string& test) {
  Finding out = finding_of(rules::different_workload, "run", test);
  set_headline(out, fmt::format("{} and {} look like different workloads", brief(base, kLabelWidth),
                                brief(test, kLabelWidth)));
  out.evidence =
      fmt::format("{} of {} operators are in both runs and take {:.0f} % and {:.0f} % of the "
                  "operators' GPU time",
                  overlap.common, overlap.all, overlap.base_percent, overlap.test_percent);
  out.action = "All values compare different programs";
  return out;
}

Finding different_work(const WorkDifference& work, const std::string& base, const std::string& test,
                       bool per_step) {
  const auto launches = [](const std::string& text) {
    return text.empty() ? std::string("no launches") : text;
  };
  Finding out = finding_of(rules::different_work, "run", test);
  set_headline(out, fmt::format("{} and {} do different work{}", brief(base, kLabelWidth),
                                brief(test, kLabelWidth), per_step ? " per step" : ""));
  out.evidence = fmt::format("Operators with different shapes or numbers of launches take {:.0f} % "
                             "and {:.0f} % of the kernel time of the two runs (most: {}, {} "
                             "against {})",
                             work.base_percent, work.test_percent, work.op,
                             launches(work.base_work), launches(work.test_work));
  return out;
}

std::string why_not_judged(const Comparison& comparison, std::size_t i) {
  const ComparedRun& base = comparison.base;
  const ComparedRun& test = comparison.tests[i];
  if (same_ranks(base, test))
    return comparison.rules[i].same_work ? "" : "the runs do different work";
  const std::string lost = lost_events_text(base, test, base.label, test.label);
  return lost.empty() ? "the runs have different ranks" : lost;
}

Finding different_ranks(const ComparedRun& base, const ComparedRun& test) {
  const std::string a = brief(base.label, kLabelWidth);
  const std::string b = brief(test.label, kLabelWidth);
  if (const std::string lost = lost_events_text(base, test, a, b); !lost.empty()) {
    Finding out = finding_of(rules::lost_events, "run", test.label);
    set_headline(out, capital(lost));
    out.evidence = "GPU times are means over the ranks of which all runs have all events";
    return out;
  }
  Finding out = finding_of(rules::different_ranks, "run", test.label);
  set_headline(out, base.ranks.size() == test.ranks.size()
                        ? fmt::format("{} and {} have different ranks", a, b)
                        : fmt::format("{} has {} and {} has {}", a,
                                      counted(base.ranks.size(), "rank", "ranks"), b,
                                      test.ranks.size()));
  out.evidence = "GPU times are means over the ranks that all runs have";
  return out;
}

ComparisonFindings comparison_findings(const Comparison& comparison) {
  ComparisonFindings out;
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    for (Finding& note : comparability_notes(comparison, i))
      out.notes.push_back(std::move(note));
    Sides sides = sides_of(comparison, i);
    add_metric_findings(comparison, i, sides, out.metrics.emplace_back());
    std::vector<Finding>& changes = out.changes.emplace_back();
    const WhatChanged& changed = comparison.changes[i];
    if (changed.assumed)
      sides.note = "; the noise is assumed";
    sides.kernels = kernel_names_of(changed);
    if (changed.known)
      add_changes(changed, sides, changes);
  }
  return out;
}

std::vector<Finding> ComparisonFindings::all() const {
  std::vector<Finding> out = notes;
  for (std::size_t i = 0; i < changes.size(); ++i)
    for (const std::vector<Finding>* list : {&metrics[i], &changes[i]})
      out.insert(out.end(), list->begin(), list->end());
  return out;
}

} // namespace rankscope
