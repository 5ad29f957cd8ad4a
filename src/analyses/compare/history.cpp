#include "analyses/compare/history.h"

#include "analyses/compare/compare_runs.h"
#include "base/change_points.h"
#include "base/invariant.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

std::vector<const ComparedRun*> pointers(const std::vector<ComparedRun>& runs) {
  std::vector<const ComparedRun*> out;
  for (const ComparedRun& run : runs)
    out.push_back(&run);
  return out;
}

bool has_steps(const ComparedRun& run) {
  return std::any_of(run.ranks.begin(), run.ranks.end(),
                     [](const auto& rank) { return !rank.second.step_ns.empty(); });
}

/// Returns the time in milliseconds, as a mean over those of the ranks that have the kind.
std::optional<double> gpu_time(const ComparedRun& run, const std::set<std::int64_t>& of_ranks,
                               TimeKind kind, bool per_step) {
  double sum = 0;
  double ranks = 0;
  for (const auto& [rank, timeline] : run.ranks) {
    if (!of_ranks.contains(rank))
      continue;
    if (per_step) {
      const auto found = timeline.step_ns.find(kind);
      if (found == timeline.step_ns.end() || found->second.empty())
        continue;
      double steps = 0;
      for (const auto& [step, ns] : found->second)
        steps += ns_to_ms(ns);
      sum += steps / static_cast<double>(found->second.size());
    } else {
      const auto found = timeline.kinds.find(kind);
      if (found == timeline.kinds.end())
        continue;
      sum += ns_to_ms(found->second.time_ns);
    }
    ranks += 1;
  }
  return ranks > 0 ? std::optional(sum / ranks) : std::nullopt;
}

using Summaries = std::map<CollectiveKey, const SyncSummary*>;

/// Returns, for each run, its collectives that more than half of the runs have.
std::vector<Summaries> common_collectives(const std::vector<ComparedRun>& runs) {
  std::vector<Summaries> out;
  std::map<CollectiveKey, std::size_t> known;
  for (const ComparedRun& run : runs) {
    Summaries& summaries = out.emplace_back();
    for (const SyncSummary& s : run.collectives.summary)
      known[key_of(s)] += summaries.emplace(key_of(s), &s).second ? 1 : 0;
  }
  for (Summaries& summaries : out)
    std::erase_if(summaries,
                  [&](const auto& item) { return 2 * known.at(item.first) <= runs.size(); });
  return out;
}

/// Returns the collectives of all runs, each as in the first run that has it.
Summaries union_of(const std::vector<Summaries>& runs) {
  Summaries out;
  for (const Summaries& run : runs)
    out.insert(run.begin(), run.end());
  return out;
}

/// Returns the weighted mean of a metric over the collectives; with `mean` = false the weighted
/// sum. Empty if the run lacks one of the collectives.
std::optional<double> weighted(const Summaries& run, const Summaries& weighers,
                               Stats SyncSummary::*stats, bool by_time, bool mean) {
  double sum = 0;
  double weights = 0;
  if (run.size() != weighers.size())
    return std::nullopt;
  for (const auto& [key, row] : run) {
    const SyncSummary& weigher = *weighers.at(key);
    const double weight =
        static_cast<double>(weigher.count) * (by_time ? weigher.latency_us.mean : 1);
    const double value = (row->*stats).mean;
    if (std::isnan(value) || std::isnan(weight))
      return std::nullopt;
    sum += weight * value;
    weights += weight;
  }
  if (!(weights > 0))
    return std::nullopt;
  return mean ? sum / weights : sum / 1e3; // us to ms
}

/// Returns the clock state of most runs; on a tie, the state of the first run.
ClockState most_clocks(const std::vector<ComparedRun>& runs) {
  std::size_t as_first = 0;
  const ClockState first = runs.front().collectives.clocks;
  for (const ComparedRun& run : runs)
    as_first += run.collectives.clocks == first ? 1 : 0;
  if (2 * as_first >= runs.size())
    return first;
  return std::find_if(runs.begin(), runs.end(),
                      [first](const ComparedRun& run) { return run.collectives.clocks != first; })
      ->collectives.clocks;
}

/// Returns the runs that lack metrics.
std::vector<MissingMetrics> missing_metrics(const std::vector<ComparedRun>& runs,
                                            const History& history,
                                            const std::vector<Summaries>& common,
                                            ClockState clocks) {
  std::vector<MissingMetrics> out;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (history.per_step && !has_steps(runs[r]))
      out.push_back({r, MissingMetrics::Reason::kNoSteps, 0});
    if (common[r].size() != history.collectives)
      out.push_back({r, MissingMetrics::Reason::kFewCollectives, common[r].size()});
    else if (history.collectives > 0 && runs[r].collectives.clocks != clocks)
      out.push_back({r, MissingMetrics::Reason::kOtherClocks, 0});
  }
  return out;
}

void add_metric(History& out, MetricHistory metric) {
  for (const auto& value : metric.values)
    metric.runs += value && std::isfinite(*value) ? 1 : 0;
  if (std::any_of(metric.values.begin(), metric.values.end(),
                  [](const auto& v) { return v && std::isfinite(*v) && *v != 0; }))
    out.metrics.push_back(std::move(metric));
}

/// Finds the changes of a metric; `alpha` is the metric's share of the error rate.
void judge(MetricHistory& metric, double alpha) {
  std::vector<double> values;
  std::vector<std::size_t> runs; // the run of each value
  for (std::size_t r = 0; r < metric.values.size(); ++r)
    if (metric.values[r] && std::isfinite(*metric.values[r])) {
      values.push_back(*metric.values[r]);
      runs.push_back(r);
    }
  metric.levels.assign(metric.values.size(), NAN);
  std::vector<std::size_t> borders = {0};
  const std::vector<ChangePoint> found = change_points(values, alpha);
  for (const ChangePoint& change : found)
    borders.push_back(change.at);
  borders.push_back(values.size());
  std::vector<SampleStats> levels;
  for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
    levels.push_back(sample_stats({values.begin() + static_cast<std::ptrdiff_t>(borders[b]),
                                   values.begin() + static_cast<std::ptrdiff_t>(borders[b + 1])}));
    for (std::size_t i = borders[b]; i < borders[b + 1]; ++i)
      metric.levels[runs[i]] = levels.back().mean;
  }
  for (std::size_t c = 0; c < found.size(); ++c) {
    const SampleStats& before = levels[c];
    const SampleStats& after = levels[c + 1];
    LevelChange change;
    change.run = runs[found[c].at];
    change.before = before.mean;
    change.after = after.mean;
    change.p = found[c].p;
    change.improvement_percent = improvement_percent(before.mean, after.mean, metric.better);
    if (const auto interval = welch95(before, after); interval && before.mean != 0) {
      const double sign = metric.better == Better::kHigher ? 1 : -1;
      const double middle = sign * interval->difference / std::fabs(before.mean) * 100;
      const double half = interval->half_width / std::fabs(before.mean) * 100;
      change.low_percent = middle - half;
      change.high_percent = middle + half;
    }
    metric.changes.push_back(change);
  }
}

/// A row of Change_Points or Series.
struct ChangeRow {
  const MetricHistory* metric = nullptr;
  const LevelChange* change = nullptr;
  std::size_t run = 0;
  const std::string* label = nullptr;
};

struct StatusRow {
  const MetricHistory* metric = nullptr;
  std::string status;
};

std::string status_of(const History& history, const MetricHistory& metric) {
  if (metric.runs < history.needed)
    return fmt::format("too few runs: {} of the {} that are needed", metric.runs, history.needed);
  return metric.changes.empty() ? "no change"
                                : fmt::format("{} change{}", metric.changes.size(),
                                              metric.changes.size() == 1 ? "" : "s");
}

template <class Row> void add_metric_columns(Schema<Row>& schema) {
  schema.add({"metric", [](const Row& r) { return std::string_view(r.metric->metric); },
              "name of the metric, as in the sheet Summary_Dashboard of compare"});
  schema.add({"unit", [](const Row& r) { return std::string_view(r.metric->unit); },
              "unit of the values"});
}

const Schema<StatusRow>& status_schema() {
  static const Schema<StatusRow> kSchema = [] {
    using R = StatusRow;
    Schema<R> s("History", "metrics of the saved runs, and whether they change over time");
    add_metric_columns(s);
    const auto value_of = [](const MetricHistory& m, bool last) -> std::optional<double> {
      std::optional<double> out;
      for (const auto& value : m.values)
        if (value && (last || !out))
          out = value;
      return out;
    };
    s.add({"runs", Unit::kCount, [](const R& r) { return r.metric->runs; },
           "number of runs that have the metric"});
    s.add({"first",
           [value_of](const R& r) { return value_of(*r.metric, false); },
           "value of the first run that has the metric",
           {.decimals = 3}});
    s.add({"last",
           [value_of](const R& r) { return value_of(*r.metric, true); },
           "value of the last run that has the metric",
           {.decimals = 3}});
    s.add({"changes", Unit::kCount, [](const R& r) { return r.metric->changes.size(); },
           "number of change points found"});
    s.add({"status", &R::status, "no change, the number of changes, or too few runs"});
    return s;
  }();
  return kSchema;
}

const Schema<ChangeRow>& change_schema() {
  static const Schema<ChangeRow> kSchema = [] {
    using R = ChangeRow;
    Schema<R> s("Change_Points", "runs at which a metric changes from one level to another");
    add_metric_columns(s);
    s.add({"run", [](const R& r) { return std::string_view(*r.label); },
           "first run with the new level"});
    s.add({"run_number", "run number", Unit::kNone,
           [](const R& r) { return static_cast<std::int64_t>(r.run) + 1; },
           "number of the run in the history, from 1"});
    s.add({"before",
           [](const R& r) { return r.change->before; },
           "mean value of the metric over the runs from the previous change point to this one",
           {.decimals = 3}});
    s.add({"after",
           [](const R& r) { return r.change->after; },
           "mean value of the metric over the runs from this change point to the next one",
           {.decimals = 3}});
    s.add({"improvement_percent",
           "improvement (%)",
           Unit::kPercent,
           [](const R& r) { return r.change->improvement_percent; },
           "change from the level before to the level after, in percent of the level before; "
           "positive is better",
           {.delta = true}});
    s.add({"low_percent", "95% low (%)", Unit::kPercent,
           [](const R& r) { return r.change->low_percent; },
           "lower end of the interval (Welch, 95 %) of the improvement, assuming that there is a "
           "change at this run"});
    s.add({"high_percent", "95% high (%)", Unit::kPercent,
           [](const R& r) { return r.change->high_percent; },
           "upper end of the interval (Welch, 95 %) of the improvement, assuming that there is a "
           "change at this run"});
    s.add({"p",
           [](const R& r) { return r.change->p; },
           "p-value: fraction of random orders of the runs that give a change at least as large",
           {.decimals = 4}});
    return s;
  }();
  return kSchema;
}

const Schema<ChangeRow>& series_schema() {
  static const Schema<ChangeRow> kSchema = [] {
    using R = ChangeRow;
    Schema<R> s("Series", "value of each metric in each run, and mean level between change points");
    add_metric_columns(s);
    s.add({"run_number", "run number", Unit::kNone,
           [](const R& r) { return static_cast<std::int64_t>(r.run) + 1; },
           "number of the run in the history, from 1"});
    s.add({"run", [](const R& r) { return std::string_view(*r.label); },
           "name of the saved baseline"});
    s.add({"value",
           [](const R& r) { return r.metric->values[r.run]; },
           "value of the metric; blank if the run does not have it",
           {.decimals = 3}});
    s.add({"level",
           [](const R& r) { return r.metric->levels[r.run]; },
           "mean value of the metric over the runs between the change points before and after this "
           "run",
           {.decimals = 3}});
    return s;
  }();
  return kSchema;
}

} // namespace

History history_of(const std::vector<ComparedRun>& runs) {
  RS_ASSERT(runs.size() >= 2);
  History out;
  for (const ComparedRun& run : runs)
    out.runs.push_back(run.label);
  out.per_step = std::any_of(runs.begin(), runs.end(), has_steps);
  const auto longest = std::ranges::max_element(runs, {}, step_count);
  std::vector<const ComparedRun*> timed = pointers(runs);
  std::erase_if(timed, [](const ComparedRun* run) { return run->ranks.empty(); });
  const std::set<std::int64_t> ranks =
      timed.empty() ? std::set<std::int64_t>{} : common_ranks(timed);
  for (const TimeKind kind : kinds_of(pointers(runs))) {
    MetricHistory metric;
    metric.metric = "GPU_" + std::string(time_kind_name(kind));
    metric.unit = "ms";
    for (const ComparedRun& run : runs)
      metric.values.push_back(out.per_step && has_idle_before(kind) &&
                                      !same_idle_time(run, *longest)
                                  ? std::nullopt
                                  : gpu_time(run, ranks, kind, out.per_step));
    add_metric(out, std::move(metric));
  }
  const std::vector<Summaries> common = common_collectives(runs);
  const Summaries all = union_of(common);
  const ClockState clocks = most_clocks(runs);
  const auto add = [&](const char* name, const char* unit, Stats SyncSummary::*stats, Better better,
                       bool by_time, bool mean, bool any_clock = true) {
    MetricHistory metric;
    metric.metric = name;
    metric.unit = unit;
    metric.better = better;
    for (std::size_t r = 0; r < runs.size(); ++r)
      metric.values.push_back(any_clock || runs[r].collectives.clocks == clocks
                                  ? weighted(common[r], all, stats, by_time, mean)
                                  : std::nullopt);
    add_metric(out, std::move(metric));
  };
  add("NCCL_comm_latency", "ms", &SyncSummary::latency_us, Better::kLower, false, false);
  add("NCCL_bus_bandwidth", "GB/s", &SyncSummary::bus_gbps, Better::kHigher, true, true);
  add("NCCL_start_skew", "us", &SyncSummary::start_skew_us, Better::kLower, false, true, false);
  out.collectives = all.size();
  out.missing = missing_metrics(runs, out, common, clocks);
  const double alpha = corrected_alpha(out.metrics.size());
  out.needed = std::max(least_values_for(alpha), 2 * kLeastSegment);
  for (MetricHistory& metric : out.metrics)
    judge(metric, alpha);
  return out;
}

Report history_report(const History& history) {
  std::vector<StatusRow> status;
  std::vector<ChangeRow> changes;
  std::vector<ChangeRow> series;
  for (const MetricHistory& metric : history.metrics) {
    status.push_back({&metric, status_of(history, metric)});
    for (const LevelChange& change : metric.changes)
      changes.push_back({&metric, &change, change.run, &history.runs[change.run]});
    for (std::size_t r = 0; r < history.runs.size(); ++r)
      series.push_back({&metric, nullptr, r, &history.runs[r]});
  }
  Report out;
  out.title = "history";
  out.tables = {status_schema().table(status), change_schema().table(changes),
                series_schema().table(series)};
  out.tables.front().notes = {
      fmt::format("GPU times: mean over the ranks that all runs have{}. Collectives: those of more "
                  "than half of the runs, weighted by the counts of the first run that has each.",
                  history.per_step ? " and profiler steps" : ", of complete traces"),
      fmt::format("Change points: binary segmentation with a permutation test, {} metrics together "
                  "at 5 %; the runs are assumed to be equal except for the changes.",
                  history.metrics.size())};
  return out;
}

std::vector<SheetInfo> history_sheets() {
  return {status_schema().info(), change_schema().info(), series_schema().info()};
}

} // namespace rankscope
