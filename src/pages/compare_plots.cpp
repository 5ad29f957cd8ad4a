#include "pages/compare_plots.h"

#include "base/sample_intervals.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

using Plots = std::vector<std::pair<std::string, PlotSpec>>;

const std::vector<std::string>& run_colours() {
  static const std::vector<std::string> colours = {"#3498DB", "#E67E22", "#9B59B6", "#1ABC9C",
                                                   "#F1C40F", "#34495E", "#E84393", "#7F8C8D"};
  return colours;
}

/// Returns the time of one kind on one rank; NaN when it is not available.
double time_ms(const RankTimeline& side, TimeKind kind) {
  const auto found = side.kinds.find(kind);
  return found == side.kinds.end() ? NAN : ns_to_ms(found->second.time_ns);
}

std::vector<std::int64_t> all_ranks(const ComparedRun& base, const ComparedRun& test) {
  std::set<std::int64_t> ranks;
  for (const ComparedRun* run : {&base, &test})
    for (const auto& [rank, side] : run->ranks)
      ranks.insert(rank);
  return {ranks.begin(), ranks.end()};
}

constexpr const char* kGreyMeans = "; grey: within noise or threshold";

bool differs(const Judgement& j) {
  return j.verdict == Verdict::kBetter || j.verdict == Verdict::kWorse;
}

/// Adds a change with its interval. The bar is grey unless the verdict is better or worse.
void add_change(PlotSeries& series, const Judgement& judgement, std::optional<double> improvement) {
  series.values.push_back(judgement.estimate(improvement).value_or(NAN));
  series.intervals.emplace_back(judgement.low.value_or(NAN), judgement.high.value_or(NAN));
  series.grey.push_back(!differs(judgement));
}

bool holds_values(const PlotPanel& panel) {
  return std::ranges::any_of(panel.series, [](const PlotSeries& series) {
    return std::ranges::any_of(series.values, [](double v) { return !std::isnan(v); });
  });
}

/// Adds a plot without its empty panels; adds no plot when all are empty.
void add_plot(std::string name, PlotSpec spec, Plots& out) {
  std::erase_if(spec.panels, [](const PlotPanel& panel) { return !holds_values(panel); });
  if (!spec.panels.empty())
    out.emplace_back(std::move(name), std::move(spec));
}

using RankRows = std::map<std::pair<std::int64_t, TimeKind>, const TimelineChange*>;

RankRows rows_by_rank(const TimelineComparison& comparison) {
  RankRows out;
  for (const TimelineChange& row : comparison.by_rank)
    out.emplace(std::pair(row.rank.value_or(-1), row.kind), &row);
  return out;
}

void add_rank_change(PlotSeries& series, const RankRows& rows, std::int64_t rank, TimeKind kind) {
  const auto found = rows.find({rank, kind});
  if (found == rows.end())
    return add_change(series, {}, std::nullopt);
  add_change(series, found->second->judgement, found->second->ms.improvement());
}

void add_dashboard_plots(const Comparison& comparison, Plots& out) {
  const std::vector<ComparedRun>& tests = comparison.tests;
  PlotPanel change;
  change.kind = PlotPanel::Kind::kSideBars;
  change.x_label = "Improvement (%), positive is better";
  change.by_sign = tests.size() == 1;
  change.colours = {run_colours().begin() + 1, run_colours().end()};
  PlotPanel times;
  times.kind = PlotPanel::Kind::kBars;
  times.y_label = "Time (ms), mean over ranks";
  times.colours = run_colours();
  times.series.push_back({comparison.base.label, {}});
  for (const ComparedRun& t : tests) {
    change.series.push_back({t.label, {}});
    times.series.push_back({t.label, {}});
  }
  for (const DashboardRow& row : comparison.dashboard.rows) {
    change.categories.push_back(row.metric);
    if (row.kind) {
      times.categories.emplace_back(time_kind_name(*row.kind));
      times.series[0].values.push_back(row.base.value_or(NAN));
    }
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const DashboardCell cell = row.tests[i].value_or(DashboardCell{});
      add_change(change.series[i], cell.judgement, cell.improvement);
      if (row.kind) {
        times.series[i + 1].values.push_back(cell.value.value_or(NAN));
        times.series[i + 1].grey.push_back(change.series[i].grey.back());
      }
    }
  }
  const double bars = static_cast<double>(comparison.dashboard.rows.size() * tests.size());
  add_plot("improvement_chart",
           PlotSpec{"Improvement against " + comparison.base.label + kGreyMeans,
                    12,
                    std::clamp(bars * 0.45, 6.0, 30.0),
                    {std::move(change)}},
           out);
  add_plot("abs_time_comparison",
           PlotSpec{std::string("GPU time by kind") + kGreyMeans, 14, 7, {std::move(times)}}, out);
}

constexpr TimeKind kShownKinds[] = {
    TimeKind::kBusy, TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kExposedMemcpy,
    TimeKind::kIdle, TimeKind::kTotalComm,   TimeKind::kTotalMemcpy, TimeKind::kTotal};

void add_heat_map(const Comparison& comparison, const std::vector<RankRows>& rows, Plots& out) {
  const ComparedRun& base = comparison.base;
  PlotSpec heat{
      std::string("Improvement by rank (%), positive is better") + kGreyMeans, 14, 6, {}, 1};
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    const ComparedRun& test = comparison.tests[i];
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kHeatMap;
    panel.title = fmt::format("{} against {}", test.label, base.label);
    panel.x_label = "Rank";
    const auto ranks = all_ranks(base, test);
    for (const std::int64_t rank : ranks)
      panel.categories.push_back(std::to_string(rank));
    for (const TimeKind kind : kShownKinds) {
      PlotSeries row{std::string(time_kind_name(kind)), {}};
      for (const std::int64_t rank : ranks)
        add_rank_change(row, rows[i], rank, kind);
      panel.series.push_back(std::move(row));
    }
    heat.panels.push_back(std::move(panel));
  }
  heat.height_in = 5.5 * static_cast<double>(heat.panels.size());
  if (comparison.tests.size() == 1)
    heat.title += ": " + heat.panels[0].title;
  add_plot("gpu_time_heatmap", std::move(heat), out);
}

void add_times_by_rank(const Comparison& comparison, Plots& out) {
  for (const TimeKind kind :
       {TimeKind::kTotal, TimeKind::kComputation, TimeKind::kTotalComm, TimeKind::kIdle}) {
    const std::string_view type = time_kind_name(kind);
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kLines;
    panel.x_label = "Rank";
    panel.y_label = fmt::format("{} (ms)", type);
    panel.colours = run_colours();
    const auto add = [&](const ComparedRun& run) {
      PlotLine line{run.label, {}};
      for (const auto& [rank, side] : run.ranks)
        if (const double ms = time_ms(side, kind); !std::isnan(ms))
          line.points.emplace_back(static_cast<double>(rank), ms);
      if (!line.points.empty())
        panel.lines.push_back(std::move(line));
    };
    add(comparison.base);
    for (const ComparedRun& t : comparison.tests)
      add(t);
    if (!panel.lines.empty())
      out.emplace_back(fmt::format("{}_by_rank", type),
                       PlotSpec{fmt::format("{} by rank", type), 10, 6, {std::move(panel)}});
  }
}

void add_changes_by_rank(const Comparison& comparison, const std::vector<RankRows>& rows,
                         Plots& out) {
  const std::vector<ComparedRun>& tests = comparison.tests;
  std::set<std::int64_t> ranks;
  for (const ComparedRun& t : tests)
    for (const std::int64_t rank : all_ranks(comparison.base, t))
      ranks.insert(rank);
  PlotSpec detail{
      std::string("Improvement by rank (%), positive is better") + kGreyMeans, 20, 9, {}, 4};
  for (const TimeKind kind : kShownKinds) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kBars;
    panel.title = time_kind_name(kind);
    panel.x_label = "Rank";
    panel.y_label = "Improvement (%)";
    panel.by_sign = tests.size() == 1;
    panel.colours = {run_colours().begin() + 1, run_colours().end()};
    for (const std::int64_t rank : ranks)
      panel.categories.push_back(std::to_string(rank));
    for (std::size_t i = 0; i < tests.size(); ++i) {
      PlotSeries series{tests[i].label, {}};
      for (const std::int64_t rank : ranks)
        add_rank_change(series, rows[i], rank, kind);
      panel.series.push_back(std::move(series));
    }
    detail.panels.push_back(std::move(panel));
  }
  add_plot("gpu_time_change_percentage_summary_by_rank", std::move(detail), out);
}

void add_rank_plots(const Comparison& comparison, Plots& out) {
  std::vector<RankRows> rows;
  for (const TimelineComparison& timeline : comparison.timelines)
    rows.push_back(rows_by_rank(timeline));
  add_heat_map(comparison, rows, out);
  add_times_by_rank(comparison, out);
  add_changes_by_rank(comparison, rows, out);
}

/// The bars of the collective plots: one bar per collective, data type, size and group, in the
/// order of the first comparison.
struct CollectiveBars {
  std::vector<std::string> names;
  std::vector<std::map<std::string, const CollectiveChange*>> rows; ///< one per test
  std::string rest;                                                 ///< number of others

  [[nodiscard]] const CollectiveChange* at(std::size_t test, const std::string& name) const {
    const auto found = rows[test].find(name);
    return found == rows[test].end() ? nullptr : found->second;
  }
};

CollectiveBars collective_bars(const Comparison& comparison) {
  constexpr std::size_t kMost = 24; // limit per page; the table contains all collectives
  CollectiveBars out;
  for (const CollectiveComparison& c : comparison.collectives) {
    auto& rows = out.rows.emplace_back();
    std::set<std::string> groups;
    for (const CollectiveChange& change : c.all_ranks)
      groups.insert(change.key.group);
    for (const CollectiveChange& change : c.all_ranks) {
      const CollectiveKey& key = change.key;
      std::string name =
          fmt::format("{}\n{} {}", key.name,
                      key.in_nelems == kNoId ? "?" : std::to_string(key.in_nelems), key.dtype);
      if (groups.size() > 1)
        name += fmt::format(" [{}]", key.group);
      rows.emplace(name, &change);
      if (std::find(out.names.begin(), out.names.end(), name) == out.names.end())
        out.names.push_back(std::move(name));
    }
  }
  const std::size_t dropped = out.names.size() > kMost ? out.names.size() - kMost : 0;
  out.names.resize(out.names.size() - dropped);
  if (dropped > 0)
    out.rest = fmt::format(" ({} more in the table)", dropped);
  return out;
}

/// A metric of collectives, drawn as bars.
struct CollectiveMetric {
  const char* file;
  const char* label;
  MetricChange CollectiveChange::*metric;
  Judgement CollectiveChange::*judgement; ///< nullptr: a sum, which is not judged
  SampleSet CollectiveSamples::*samples;  ///< `metric` is their mean times a factor
};

/// Adds a mean with the 95 % interval from its samples.
void add_mean(PlotSeries& series, const ComparedRun& run, const CollectiveChange* change,
              std::optional<double> mean, const CollectiveMetric& f) {
  series.values.push_back(mean.value_or(NAN));
  auto& interval = series.intervals.emplace_back(NAN, NAN);
  if (change == nullptr || !mean || f.samples == nullptr)
    return;
  const auto found = run.collectives.samples.find(change->key);
  if (found == run.collectives.samples.end())
    return;
  const auto measured = mean_interval((found->second.*f.samples).stats(), 0.05);
  if (!measured || !(measured->difference > 0))
    return;
  const double half = *mean * measured->half_width / measured->difference;
  interval = {*mean - half, *mean + half};
}

void add_metric_plot(const Comparison& comparison, const CollectiveBars& bars,
                     const CollectiveMetric& f, Plots& out) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kBars;
  panel.y_label = f.label;
  panel.categories = bars.names;
  panel.colours = run_colours();
  PlotSeries first{comparison.base.label, {}};
  for (const std::string& name : bars.names) {
    const CollectiveChange* with_base = nullptr;
    for (std::size_t i = 0; i < bars.rows.size() && with_base == nullptr; ++i)
      if (const CollectiveChange* c = bars.at(i, name); c != nullptr && (c->*f.metric).base)
        with_base = c;
    add_mean(first, comparison.base, with_base,
             with_base == nullptr ? std::nullopt : (with_base->*f.metric).base, f);
  }
  panel.series.push_back(std::move(first));
  for (std::size_t i = 0; i < bars.rows.size(); ++i) {
    PlotSeries series{comparison.tests[i].label, {}};
    for (const std::string& name : bars.names) {
      const CollectiveChange* c = bars.at(i, name);
      add_mean(series, comparison.tests[i], c, c == nullptr ? std::nullopt : (c->*f.metric).test,
               f);
      series.grey.push_back(c != nullptr && f.judgement != nullptr && !differs(c->*f.judgement));
    }
    panel.series.push_back(std::move(series));
  }
  add_plot(f.file,
           PlotSpec{f.label + std::string(f.judgement == nullptr ? "" : kGreyMeans) + bars.rest,
                    std::clamp(1.2 * static_cast<double>(bars.names.size()), 12.0, 30.0),
                    7,
                    {std::move(panel)}},
           out);
}

void add_collective_plots(const Comparison& comparison, Plots& out) {
  const auto lacks = [](const CollectiveComparison& c) { return c.all_ranks.empty(); };
  if (std::all_of(comparison.collectives.begin(), comparison.collectives.end(), lacks))
    return;
  using C = CollectiveChange;
  const CollectiveBars bars = collective_bars(comparison);
  using S = CollectiveSamples;
  const CollectiveMetric means[] = {
      {"NCCL_Communication_Latency_comparison", "Communication latency (us)", &C::latency_us,
       &C::judgement, &S::latency_us},
      {"NCCL_Algorithm_Bandwidth_comparison", "Algorithm bandwidth (GB/s)", &C::algo_gbps,
       &C::bandwidth, &S::bus_gbps},
      {"NCCL_Bus_Bandwidth_comparison", "Bus bandwidth (GB/s)", &C::bus_gbps, &C::bandwidth,
       &S::bus_gbps},
      {"NCCL_Total_Communication_Latency_comparison", "Total communication latency (ms)",
       &C::total_ms, nullptr, nullptr}};
  for (const CollectiveMetric& f : means)
    add_metric_plot(comparison, bars, f, out);
  PlotSpec change{std::string("Improvement of collectives (%), positive is better") + kGreyMeans +
                      bars.rest,
                  22,
                  std::clamp(0.7 * static_cast<double>(bars.names.size()), 6.0, 24.0),
                  {}};
  struct Shown {
    MetricChange C::*metric;
    Judgement C::*judgement;
    const char* title;
  };
  const Shown metrics[] = {{&C::latency_us, &C::judgement, "Latency"},
                           {&C::algo_gbps, &C::bandwidth, "Algorithm bandwidth"},
                           {&C::bus_gbps, &C::bandwidth, "Bus bandwidth"}};
  for (const auto& [metric, judgement, title] : metrics) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kSideBars;
    panel.title = title;
    panel.x_label = "Improvement (%)";
    panel.by_sign = comparison.tests.size() == 1;
    panel.colours = {run_colours().begin() + 1, run_colours().end()};
    panel.categories = bars.names;
    for (std::size_t i = 0; i < bars.rows.size(); ++i) {
      PlotSeries series{comparison.tests[i].label, {}};
      for (const std::string& name : bars.names) {
        const C* c = bars.at(i, name);
        add_change(series, c == nullptr ? Judgement{} : c->*judgement,
                   c == nullptr ? std::nullopt : (c->*metric).improvement());
      }
      panel.series.push_back(std::move(series));
    }
    change.panels.push_back(std::move(panel));
  }
  add_plot("NCCL_Performance_Percentage_Change_comparison", std::move(change), out);
}

} // namespace

std::vector<std::pair<std::string, PlotSpec>> compare_plots(const Comparison& comparison) {
  Plots out;
  if (!comparison.base.ranks.empty()) {
    add_dashboard_plots(comparison, out);
    add_rank_plots(comparison, out);
  }
  add_collective_plots(comparison, out);
  return out;
}

} // namespace rankscope
