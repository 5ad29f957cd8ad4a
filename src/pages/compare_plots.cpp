#include "pages/compare_plots.h"

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

/// A kind of time of one rank, NaN when it is not there.
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

/// Percent, positive when the test is faster; NaN where no percentage can be given.
double rank_improvement(const ComparedRun& base, const ComparedRun& test, std::int64_t rank,
                        TimeKind kind) {
  const auto b = base.ranks.find(rank);
  const auto t = test.ranks.find(rank);
  return b == base.ranks.end() || t == test.ranks.end()
             ? NAN
             : improvement_percent(time_ms(b->second, kind), time_ms(t->second, kind))
                   .value_or(NAN);
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
      change.series[i].values.push_back(cell.improvement.value_or(NAN));
      if (row.kind)
        times.series[i + 1].values.push_back(cell.value.value_or(NAN));
    }
  }
  const double bars = static_cast<double>(comparison.dashboard.rows.size() * tests.size());
  out.emplace_back("improvement_chart", PlotSpec{"Improvement against " + comparison.base.label,
                                                 12,
                                                 std::clamp(bars * 0.45, 6.0, 30.0),
                                                 {std::move(change)}});
  out.emplace_back("abs_time_comparison", PlotSpec{"GPU time by kind", 14, 7, {std::move(times)}});
}

void add_rank_plots(const ComparedRun& base, const std::vector<ComparedRun>& tests, Plots& out) {
  static constexpr TimeKind kKinds[] = {
      TimeKind::kBusy, TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kExposedMemcpy,
      TimeKind::kIdle, TimeKind::kTotalComm,   TimeKind::kTotalMemcpy, TimeKind::kTotal};
  PlotSpec heat{"Improvement by rank (%), positive is better", 14, 6, {}, 1};
  for (const ComparedRun& test : tests) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kHeatMap;
    panel.title = fmt::format("{} against {}", test.label, base.label);
    panel.x_label = "Rank";
    const auto ranks = all_ranks(base, test);
    for (const std::int64_t rank : ranks)
      panel.categories.push_back(std::to_string(rank));
    for (const TimeKind kind : kKinds) {
      PlotSeries row{std::string(time_kind_name(kind)), {}};
      for (const std::int64_t rank : ranks)
        row.values.push_back(rank_improvement(base, test, rank, kind));
      panel.series.push_back(std::move(row));
    }
    heat.panels.push_back(std::move(panel));
  }
  heat.height_in = 5.5 * static_cast<double>(heat.panels.size());
  if (tests.size() == 1)
    heat.title += ": " + heat.panels[0].title;
  out.emplace_back("gpu_time_heatmap", std::move(heat));

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
    add(base);
    for (const ComparedRun& t : tests)
      add(t);
    if (!panel.lines.empty())
      out.emplace_back(fmt::format("{}_by_rank", type),
                       PlotSpec{fmt::format("{} by rank", type), 10, 6, {std::move(panel)}});
  }

  PlotSpec detail{"Improvement by rank (%), positive is better", 20, 9, {}, 4};
  for (const TimeKind kind : kKinds) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kBars;
    panel.title = time_kind_name(kind);
    panel.x_label = "Rank";
    panel.y_label = "Improvement (%)";
    panel.by_sign = tests.size() == 1;
    panel.colours = {run_colours().begin() + 1, run_colours().end()};
    std::set<std::int64_t> ranks;
    for (const ComparedRun& t : tests)
      for (const std::int64_t rank : all_ranks(base, t))
        ranks.insert(rank);
    for (const std::int64_t rank : ranks)
      panel.categories.push_back(std::to_string(rank));
    for (const ComparedRun& t : tests) {
      PlotSeries series{t.label, {}};
      for (const std::int64_t rank : ranks)
        series.values.push_back(rank_improvement(base, t, rank, kind));
      panel.series.push_back(std::move(series));
    }
    detail.panels.push_back(std::move(panel));
  }
  out.emplace_back("gpu_time_change_percentage_summary_by_rank", std::move(detail));
}

/// What the bars of collectives stand for: one entry per collective, type, size and group, in the
/// order of the first comparison.
struct CollectiveBars {
  std::vector<std::string> names;
  std::vector<std::map<std::string, const CollectiveChange*>> rows; ///< one per test
  std::string rest;                                                 ///< how many do not fit

  [[nodiscard]] const CollectiveChange* at(std::size_t test, const std::string& name) const {
    const auto found = rows[test].find(name);
    return found == rows[test].end() ? nullptr : found->second;
  }
};

CollectiveBars collective_bars(const Comparison& comparison) {
  constexpr std::size_t kMost = 24; // more do not fit a page; the table holds them all
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

void add_collective_figure(const Comparison& comparison, const CollectiveBars& bars,
                           const char* file, const char* label,
                           FigureChange CollectiveChange::*figure, Plots& out) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kBars;
  panel.y_label = label;
  panel.categories = bars.names;
  panel.colours = run_colours();
  PlotSeries first{comparison.base.label, {}};
  for (const std::string& name : bars.names) {
    std::optional<double> v;
    for (std::size_t i = 0; i < bars.rows.size() && !v; ++i)
      if (const CollectiveChange* c = bars.at(i, name))
        v = (c->*figure).base;
    first.values.push_back(v.value_or(NAN));
  }
  panel.series.push_back(std::move(first));
  for (std::size_t i = 0; i < bars.rows.size(); ++i) {
    PlotSeries series{comparison.tests[i].label, {}};
    for (const std::string& name : bars.names) {
      const CollectiveChange* c = bars.at(i, name);
      series.values.push_back(c == nullptr ? NAN : (c->*figure).test.value_or(NAN));
    }
    panel.series.push_back(std::move(series));
  }
  out.emplace_back(file,
                   PlotSpec{label + bars.rest,
                            std::clamp(1.2 * static_cast<double>(bars.names.size()), 12.0, 30.0),
                            7,
                            {std::move(panel)}});
}

void add_collective_plots(const Comparison& comparison, Plots& out) {
  const auto lacks = [](const CollectiveComparison& c) { return c.all_ranks.empty(); };
  if (std::any_of(comparison.collectives.begin(), comparison.collectives.end(), lacks))
    return;
  using C = CollectiveChange;
  const CollectiveBars bars = collective_bars(comparison);
  const auto add = [&](const char* file, const char* label, FigureChange C::*figure) {
    add_collective_figure(comparison, bars, file, label, figure, out);
  };
  add("NCCL_Communication_Latency_comparison", "Communication latency (us)", &C::latency_us);
  add("NCCL_Algorithm_Bandwidth_comparison", "Algorithm bandwidth (GB/s)", &C::algo_gbps);
  add("NCCL_Bus_Bandwidth_comparison", "Bus bandwidth (GB/s)", &C::bus_gbps);
  add("NCCL_Total_Communication_Latency_comparison", "Total communication latency (ms)",
      &C::total_ms);
  PlotSpec change{"Improvement of collectives (%), positive is better" + bars.rest,
                  22,
                  std::clamp(0.7 * static_cast<double>(bars.names.size()), 6.0, 24.0),
                  {}};
  const std::pair<FigureChange C::*, const char*> figures[] = {
      {&C::latency_us, "Latency"},
      {&C::algo_gbps, "Algorithm bandwidth"},
      {&C::bus_gbps, "Bus bandwidth"}};
  for (const auto& [figure, title] : figures) {
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
        series.values.push_back(c == nullptr ? NAN : (c->*figure).improvement().value_or(NAN));
      }
      panel.series.push_back(std::move(series));
    }
    change.panels.push_back(std::move(panel));
  }
  out.emplace_back("NCCL_Performance_Percentage_Change_comparison", std::move(change));
}

} // namespace

std::vector<std::pair<std::string, PlotSpec>> compare_plots(const Comparison& comparison) {
  Plots out;
  if (!comparison.base.ranks.empty()) {
    add_dashboard_plots(comparison, out);
    add_rank_plots(comparison.base, comparison.tests, out);
  }
  add_collective_plots(comparison, out);
  return out;
}

} // namespace rankscope
