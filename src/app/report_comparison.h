// The report of a second trace next to that of the first, for `report --compare-with`.
#pragma once

#include "app/report_trace.h"

#include <string>
#include <vector>

namespace rankscope {

/// Reports `request.comparison` as `request` reported its own trace, with its own graph captures,
/// and writes the tables of both side by side (analyses/compare/compare_reports.h), this trace as
/// the baseline: next to the workbook as FILE_comparison, below the CSV folder as `comparison`.
/// Returns what was written. Errors: those of report_trace() and compare_reports(), kOutput.
Result<std::vector<std::string>>
write_report_comparison(Session& session, const ReportRequest& request, const TraceReport& own);

/// Checks, before anything is read, that these flags fit together. Errors: kUsage.
Result<void> check_comparison(const ReportRequest& request);

} // namespace rankscope
