#include "analyses/analysis.h"

#include "analyses/graph/graph_attribution.h"
#include "analyses/operators/pseudo_ops.h"
#include "base/counters.h"
#include "core/gpu_work.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace rankscope {

std::span<const Analysis* const> analyses() {
  static const std::vector<const Analysis*> kAll = {
#define RANKSCOPE_ANALYSIS(id) &id##_analysis,
#include "analyses/analyses.def"
#undef RANKSCOPE_ANALYSIS
  };
  return kAll;
}

namespace {

/// Returns whether the analysis makes one of these sheets. An empty set means all sheets.
bool wanted(const Analysis& analysis, const std::set<std::string>& sheets) {
  if (sheets.empty())
    return true;
  const auto made_by = [](const Analysis& a, const std::string& sheet) {
    return std::find(a.sheets.begin(), a.sheets.end(), sheet) != a.sheets.end();
  };
  return std::any_of(sheets.begin(), sheets.end(), [&](const std::string& sheet) {
    if (!analysis.sheets.empty())
      return made_by(analysis, sheet);
    const auto all = analyses();
    return std::ranges::none_of(all, [&](const Analysis* a) { return made_by(*a, sheet); });
  });
}

/// If graph launches have time that belongs to no known operator, adds a note to the tables that
/// include this time.
void note_unattributed(const LoadedTrace& trace, const ReportOptions& options,
                       std::vector<Table>& tables) {
  if (!options.graph_columns)
    return;
  const GraphAttribution& graphs = trace.shared(GraphsKey{options});
  if (graphs.unattributed_percent() <= kNotedPercent)
    return;
  const std::set<std::string_view> without_operators = {"coll_analysis", "launch_statistics",
                                                        "queue_length", "stream_idle"};
  for (Table& table : tables)
    if (!table.name().starts_with("gpu_timeline") && !table.name().starts_with("serving_") &&
        without_operators.count(table.name()) == 0)
      table.notes.push_back(
          fmt::format("{:.1f} % of the time of graph launches has no operator: {}",
                      graphs.unattributed_percent(), unattributed_families(graphs)));
}

Result<Report> tables_of(const LoadedTrace& trace, const ReportOptions& requested) {
  ReportOptions options = requested;
  options.graph_columns = !requested.compat_tracelens && has_graph_launches(trace.trace);
  Report report;
  report.title = trace.label;
  for (const Analysis* analysis : analyses()) {
    if (!wanted(*analysis, options.sheets))
      continue;
    RS_TRY(auto tables, analysis->run(trace, options));
    for (Table& table : tables)
      if (options.sheets.empty() || options.sheets.count(table.name()) > 0)
        report.tables.push_back(std::move(table));
  }
  note_unattributed(trace, options, report.tables);
  report.diagnostics = trace.trace.diagnostics;
  if (needs_python(options) && !has_events(trace.trace, Category::kPythonFunction))
    report.diagnostics.add(counters::no_python_frames(), trace.trace.path);
  return report;
}

} // namespace

Result<Report> build_report(const LoadedTrace& trace, const ReportOptions& options) {
  if (!options.step.empty()) {
    RS_TRY(const auto steps, parse_steps(options.step));
    RS_TRY(const LoadedTrace part,
           part_of_steps(trace, steps.first, steps.second, needs_python(options)));
    ReportOptions rest = options;
    rest.step.clear();
    return build_report(part, rest);
  }
  if (options.enable_pseudo_ops && !trace.pseudo_ops)
    return build_report(with_pseudo_ops(trace, options.compat_tracelens), options);
  RS_TRY(Report report, tables_of(trace, options));
  if (options.enable_pseudo_ops)
    report.diagnostics.add(*trace.pseudo_ops == 0 ? counters::no_pseudo_ops()
                                                  : counters::pseudo_ops(*trace.pseudo_ops),
                           trace.trace.path);
  return report;
}

} // namespace rankscope
