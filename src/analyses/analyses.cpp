#include "analyses/analysis.h"

#include "core/steps.h"

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

Result<Report> build_report(const LoadedTrace& trace, const ReportOptions& options) {
  if (!options.step.empty()) {
    RS_TRY(const auto steps, parse_steps(options.step));
    LoadedTrace part;
    RS_TRY(part.trace, restrict_to_steps(trace.trace, trace.tree, steps.first, steps.second));
    part.tree = CallTree::build(part.trace, {options.detect_recompute});
    part.rank = trace.rank;
    part.label = trace.label;
    ReportOptions rest = options;
    rest.step.clear();
    return build_report(part, rest);
  }
  Report report;
  report.title = trace.label;
  for (const Analysis* analysis : analyses()) {
    RS_TRY(auto tables, analysis->run(trace, options));
    for (Table& table : tables)
      if (options.sheets.empty() || options.sheets.count(table.name()) > 0)
        report.tables.push_back(std::move(table));
  }
  report.diagnostics = trace.trace.diagnostics;
  return report;
}

} // namespace rankscope
