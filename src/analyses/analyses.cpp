#include "analyses/analysis.h"

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
