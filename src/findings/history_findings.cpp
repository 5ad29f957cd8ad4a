#include "findings/history_findings.h"

#include "findings/comparison_findings.h"
#include "findings/compose.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kRunWidth = 40;

/// Returns whether runs of both levels of a change do different work: those from the previous to
/// the next change.
bool spans_other_work(const History& history, const MetricHistory& metric, std::size_t change) {
  const std::size_t first = change == 0 ? 0 : metric.changes[change - 1].run;
  const std::size_t end =
      change + 1 < metric.changes.size() ? metric.changes[change + 1].run : history.runs.size();
  return std::ranges::any_of(history.work_changes, [first, end](const WorkChange& work) {
    return first < work.run && work.run < end;
  });
}

Finding level_change(const History& history, const MetricHistory& metric, std::size_t i) {
  const LevelChange& change = metric.changes[i];
  const std::string& run = history.runs[change.run];
  Finding out = finding_of(rules::level_change, "metric", metric.metric + " at " + run);
  const std::string levels =
      fmt::format("{:.3f} before, {:.3f} {} after", change.before, change.after, metric.unit);
  const bool other_work = spans_other_work(history, metric, i);
  if (other_work || !change.improvement_percent || !change.low_percent || !change.high_percent) {
    set_headline(out, fmt::format("{} changes at {}", metric.metric, brief(run, kRunWidth)));
    out.evidence = capital(levels) + (other_work ? "; the runs do different work" : "");
    return out;
  }
  const bool worse = *change.improvement_percent < 0;
  set_interval(out, std::fabs(*change.improvement_percent),
               (*change.high_percent - *change.low_percent) / 2, Unit::kPercent);
  set_headline(out, fmt::format("{} is {} {} from {} on", metric.metric, percent_text(*out.value),
                                worse ? "worse" : "better", brief(run, kRunWidth)));
  out.evidence = fmt::format("95 % CI {} %; {}", range3(*out.low, *out.high), levels);
  return out;
}

Finding missing_metrics_note(const History& history, const MissingMetrics& missing) {
  const std::string& run = history.runs[missing.run];
  const std::string name = brief(run, kRunWidth);
  Finding out = finding_of(rules::missing_metrics, "run", run);
  switch (missing.reason) {
  case MissingMetrics::Reason::kNoSteps:
    set_headline(out, fmt::format("{} has no profiler steps", name));
    out.evidence = "Its GPU times are left out, because other runs have steps";
    break;
  case MissingMetrics::Reason::kFewCollectives:
    set_headline(out, fmt::format("{} has {} of the {} collectives that most runs have", name,
                                  missing.collectives, history.collectives));
    out.evidence = "Its metrics of collectives are left out";
    break;
  case MissingMetrics::Reason::kOtherClocks:
    set_headline(out,
                 fmt::format("The clocks of {} are not aligned like those of most runs", name));
    out.evidence = "Its start skew is left out";
    break;
  }
  return out;
}

void add_untested_metrics(const History& history, std::vector<Finding>& out) {
  std::vector<std::string> metrics;
  for (const MetricHistory& metric : history.metrics)
    if (metric.runs < history.needed)
      metrics.push_back(
          fmt::format("{} is in {}", metric.metric, counted(metric.runs, "run", "runs")));
  if (metrics.empty())
    return;
  out.push_back(finding_of(rules::too_few_runs, "run", ""));
  set_headline(out.back(), fmt::format("{} of {} {} not tested: {} runs are needed", metrics.size(),
                                       counted(history.metrics.size(), "metric", "metrics"),
                                       metrics.size() == 1 ? "is" : "are", history.needed));
  out.back().evidence = joined(metrics, "and");
}

} // namespace

std::vector<Finding> history_findings(const History& history) {
  std::vector<Finding> out;
  std::size_t most = 0;
  bool all_tested = true;
  for (const MetricHistory& metric : history.metrics) {
    most = std::max(most, metric.runs);
    all_tested = all_tested && metric.runs >= history.needed;
    for (std::size_t i = 0; i < metric.changes.size(); ++i)
      out.push_back(level_change(history, metric, i));
  }
  if (most < history.needed) {
    out.push_back(finding_of(rules::too_few_runs, "run", ""));
    set_headline(out.back(), fmt::format("{} cannot show a change: {} are needed",
                                         counted(most, "run", "runs"), history.needed));
    out.back().evidence =
        fmt::format("{} are tested together", counted(history.metrics.size(), "metric", "metrics"));
    return out;
  }
  if (out.empty()) {
    out.push_back(finding_of(rules::no_level_change, "run", ""));
    set_headline(out.back(), fmt::format("No {}metric changes significantly in {} runs",
                                         all_tested ? "" : "tested ", history.runs.size()));
  }
  add_untested_metrics(history, out);
  return out;
}

std::vector<Finding> history_notes(const std::vector<ComparedRun>& runs, const History& history) {
  std::vector<Finding> out;
  const ComparedRun& first = runs.front();
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (const auto overlap = workload_overlap(first.operators, runs[i].operators);
        overlap && overlap->differs())
      out.push_back(different_workload(*overlap, first.label, runs[i].label));
    if (!same_ranks(first, runs[i]))
      out.push_back(different_ranks(first, runs[i]));
  }
  for (const WorkChange& change : history.work_changes)
    if (change.work.differs()) // else the operators differ, which different_workload() reports
      out.push_back(different_work(change.work, runs[change.run - 1].label, runs[change.run].label,
                                   history.per_step));
  if (!history.per_step) {
    out.push_back(finding_of(rules::complete_traces, "run", ""));
    set_headline(out.back(), "GPU times cover complete traces: no run has profiler steps");
    out.back().evidence = "Longer traces have larger values";
  }
  for (const MissingMetrics& missing : history.missing)
    out.push_back(missing_metrics_note(history, missing));
  return out;
}

} // namespace rankscope
