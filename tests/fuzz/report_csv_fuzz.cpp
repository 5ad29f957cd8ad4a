// Tables of a report as CSV, then compared with themselves under two names.
#include "analyses/compare/compare_reports.h"
#include "fuzz/fuzz_target.h"
#include "readers/reports/report_tables.h"

RS_FUZZ_TARGET(report_csv) {
  rankscope::Report report;
  report.tables.push_back(rankscope::table_from_csv("ops_summary", bytes));
  report.tables.push_back(rankscope::table_from_csv("gpu_timeline", bytes));
  (void)rankscope::compare_reports({report, report}, {"a", "b"}, {});
}
