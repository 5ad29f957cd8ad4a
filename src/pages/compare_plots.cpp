#include "pages/compare_plots.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

using Plots = std::vector<std::pair<std::string, PlotSpec>>;

const std::vector<std::string>& run_colours() {
  static const std::vector<std::string> colours = {"#3498DB", "#E67E22", "#9B59B6", "#1ABC9C",
                                                   "#F1C40F", "#34495E", "#E84393", "#7F8C8D"};
  return colours;
}

/// A timeline row of one rank, NaN when it is not there.
double time_ms(const RankTimeline& side, const std::string& type) {
  for (std::size_t r = 0; r < side.timeline.rows(); ++r)
    if (side.timeline.at(r, "type").text == type)
      return side.timeline.at(r, "time ms").number();
  return NAN;
}

/// Percent, positive when the test is faster; NaN where no percentage can be given.
double improvement(double base, double test) {
  return improvement_percent(base, test).value_or(NAN);
}

std::vector<std::int64_t> all_ranks(const ComparedRun& base, const ComparedRun& test) {
  std::set<std::int64_t> ranks;
  for (const ComparedRun* run : {&base, &test})
    for (const auto& [rank, side] : run->ranks)
      ranks.insert(rank);
  return {ranks.begin(), ranks.end()};
}

double rank_improvement(const ComparedRun& base, const ComparedRun& test, std::int64_t rank,
                        const std::string& type) {
  const auto b = base.ranks.find(rank);
  const auto t = test.ranks.find(rank);
  return b == base.ranks.end() || t == test.ranks.end()
             ? NAN
             : improvement(time_ms(b->second, type), time_ms(t->second, type));
}

void add_dashboard_plots(const ComparedRun& base, const std::vector<ComparedRun>& tests,
                         Plots& out) {
  const Table dashboard = summary_dashboard(base, tests, 1);
  PlotPanel change;
  change.kind = PlotPanel::Kind::kSideBars;
  change.x_label = "Improvement (%), positive is better";
  change.by_sign = tests.size() == 1;
  change.colours = {run_colours().begin() + 1, run_colours().end()};
  PlotPanel times;
  times.kind = PlotPanel::Kind::kBars;
  times.y_label = "Time (ms), mean over ranks";
  times.colours = run_colours();
  times.series.push_back({base.label, {}});
  for (const ComparedRun& t : tests) {
    change.series.push_back({t.label, {}});
    times.series.push_back({t.label, {}});
  }
  for (std::size_t r = 0; r < dashboard.rows(); ++r) {
    const std::string metric(dashboard.at(r, 0).text);
    change.categories.push_back(metric);
    const bool gpu = metric.rfind("GPU_", 0) == 0;
    if (gpu) {
      times.categories.push_back(metric.substr(4));
      times.series[0].values.push_back(dashboard.at(r, 2).number());
    }
    for (std::size_t i = 0; i < tests.size(); ++i) {
      change.series[i].values.push_back(dashboard.at(r, 4 + 6 * i).number());
      if (gpu)
        times.series[i + 1].values.push_back(dashboard.at(r, 3 + 6 * i).number());
    }
  }
  const double rows = static_cast<double>(dashboard.rows() * tests.size());
  out.emplace_back("improvement_chart", PlotSpec{"Improvement against " + base.label,
                                                 12,
                                                 std::clamp(rows * 0.45, 6.0, 30.0),
                                                 {std::move(change)}});
  out.emplace_back("abs_time_comparison", PlotSpec{"GPU time by kind", 14, 7, {std::move(times)}});
}

void add_rank_plots(const ComparedRun& base, const std::vector<ComparedRun>& tests, Plots& out) {
  static const char* const kTypes[] = {
      "busy_time", "computation_time", "exposed_comm_time", "exposed_memcpy_time",
      "idle_time", "total_comm_time",  "total_memcpy_time", "total_time"};
  PlotSpec heat{"Improvement by rank (%), positive is better", 14, 6, {}, 1};
  for (const ComparedRun& test : tests) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kHeatMap;
    panel.title = fmt::format("{} against {}", test.label, base.label);
    panel.x_label = "Rank";
    const auto ranks = all_ranks(base, test);
    for (const std::int64_t rank : ranks)
      panel.categories.push_back(std::to_string(rank));
    for (const char* type : kTypes) {
      PlotSeries row{type, {}};
      for (const std::int64_t rank : ranks)
        row.values.push_back(rank_improvement(base, test, rank, type));
      panel.series.push_back(std::move(row));
    }
    heat.panels.push_back(std::move(panel));
  }
  heat.height_in = 5.5 * static_cast<double>(heat.panels.size());
  if (tests.size() == 1)
    heat.title += ": " + heat.panels[0].title;
  out.emplace_back("gpu_time_heatmap", std::move(heat));

  for (const char* type : {"total_time", "computation_time", "total_comm_time", "idle_time"}) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kLines;
    panel.x_label = "Rank";
    panel.y_label = fmt::format("{} (ms)", type);
    panel.colours = run_colours();
    const auto add = [&](const ComparedRun& run) {
      PlotLine line{run.label, {}};
      for (const auto& [rank, side] : run.ranks)
        if (const double ms = time_ms(side, type); !std::isnan(ms))
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
  for (const char* type : kTypes) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kBars;
    panel.title = type;
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
        series.values.push_back(rank_improvement(base, t, rank, type));
      panel.series.push_back(std::move(series));
    }
    detail.panels.push_back(std::move(panel));
  }
  out.emplace_back("gpu_time_change_percentage_summary_by_rank", std::move(detail));
}

void add_collective_plots(const ComparedRun& base, const std::vector<ComparedRun>& tests,
                          Plots& out) {
  std::vector<Table> comparisons;
  for (const ComparedRun& t : tests) {
    std::vector<Table> tables = compare_collectives(base, t, 1);
    if (tables.empty() || tables[0].name() != "nccl_implicit_sync_cmp")
      return;
    comparisons.push_back(std::move(tables[0]));
  }
  // one entry per collective, data type, size and group, in the order of the first comparison
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::size_t>> rows(tests.size());
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const Table& c = comparisons[i];
    std::set<std::string> groups;
    for (std::size_t r = 0; r < c.rows(); ++r)
      groups.insert(std::string(c.at(r, "Process Group Name").text));
    for (std::size_t r = 0; r < c.rows(); ++r) {
      const Value n = c.at(r, "In msg nelems");
      std::string name =
          fmt::format("{}\n{} {}", c.at(r, "Collective name").text,
                      n.is_null() ? "?" : fmt::format("{}", n.number()), c.at(r, "dtype").text);
      if (groups.size() > 1)
        name += fmt::format(" [{}]", c.at(r, "Process Group Name").text);
      rows[i].emplace(name, r);
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  constexpr std::size_t kMost = 24; // more do not fit a page; the table holds them all
  const std::size_t dropped = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - dropped);
  const std::string rest = dropped > 0 ? fmt::format(" ({} more in the table)", dropped) : "";
  const auto value = [&](std::size_t i, const std::string& name, const std::string& column) {
    const auto found = rows[i].find(name);
    return found == rows[i].end() ? NAN : comparisons[i].at(found->second, column).number();
  };
  const std::tuple<const char*, const char*, const char*> kinds[] = {
      {"NCCL_Communication_Latency_comparison", "comm_latency_mean (us)",
       "Communication latency (us)"},
      {"NCCL_Algorithm_Bandwidth_comparison", "algo bw (GB/s)_mean", "Algorithm bandwidth (GB/s)"},
      {"NCCL_Bus_Bandwidth_comparison", "bus bw (GB/s)_mean", "Bus bandwidth (GB/s)"},
      {"NCCL_Total_Communication_Latency_comparison", "Total comm latency (ms)",
       "Total communication latency (ms)"}};
  for (const auto& [file, column, label] : kinds) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kBars;
    panel.y_label = label;
    panel.categories = names;
    panel.colours = run_colours();
    PlotSeries first{base.label, {}};
    for (const std::string& name : names) {
      double v = NAN;
      for (std::size_t i = 0; i < tests.size() && std::isnan(v); ++i)
        v = value(i, name, base.label + "_" + column);
      first.values.push_back(v);
    }
    panel.series.push_back(std::move(first));
    for (std::size_t i = 0; i < tests.size(); ++i) {
      PlotSeries series{tests[i].label, {}};
      for (const std::string& name : names)
        series.values.push_back(value(i, name, tests[i].label + "_" + column));
      panel.series.push_back(std::move(series));
    }
    out.emplace_back(file, PlotSpec{label + rest,
                                    std::clamp(1.2 * static_cast<double>(names.size()), 12.0, 30.0),
                                    7,
                                    {std::move(panel)}});
  }
  PlotSpec change{"Improvement of collectives (%), positive is better" + rest,
                  22,
                  std::clamp(0.7 * static_cast<double>(names.size()), 6.0, 24.0),
                  {}};
  const std::pair<const char*, const char*> columns[] = {
      {"comm_latency_mean (us)", "Latency"},
      {"algo bw (GB/s)_mean", "Algorithm bandwidth"},
      {"bus bw (GB/s)_mean", "Bus bandwidth"}};
  for (const auto& [column, title] : columns) {
    PlotPanel panel;
    panel.kind = PlotPanel::Kind::kSideBars;
    panel.title = title;
    panel.x_label = "Improvement (%)";
    panel.by_sign = tests.size() == 1;
    panel.colours = {run_colours().begin() + 1, run_colours().end()};
    panel.categories = names;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      PlotSeries series{tests[i].label, {}};
      for (const std::string& name : names)
        series.values.push_back(value(i, name, std::string("percent_change_") + column));
      panel.series.push_back(std::move(series));
    }
    change.panels.push_back(std::move(panel));
  }
  out.emplace_back("NCCL_Performance_Percentage_Change_comparison", std::move(change));
}

} // namespace

std::vector<std::pair<std::string, PlotSpec>> compare_plots(const ComparedRun& base,
                                                            const std::vector<ComparedRun>& tests) {
  Plots out;
  if (!base.ranks.empty()) {
    add_dashboard_plots(base, tests, out);
    add_rank_plots(base, tests, out);
  }
  add_collective_plots(base, tests, out);
  return out;
}

} // namespace rankscope
