// Input: tables of a report as CSV, which are compared with themselves under two names.
#include "analyses/compare/compare_reports.h"
#include "fuzz/fuzz_target.h"
#include "readers/reports/report_tables.h"

RS_FUZZ_TARGET(report_csv) {
  rankscope::Report report;
  for (const char* name : {"ops_summary", "gpu_timeline"}) {
    auto table = rankscope::table_from_csv(name, bytes);
    if (!table)
      return; // too many cells
    report.tables.push_back(std::move(*table));
  }
  (void)rankscope::compare_reports({report, report}, {"a", "b"}, {});
}
