// The report of a second trace next to the report of the first, for `report --compare-with`.
#pragma once

#include "app/report_trace.h"

namespace rankscope {

/// Reports `request.comparison` with the options of `request` and its separate graph captures.
/// Writes the tables of both reports side by side (analyses/compare/compare_reports.h), with the
/// first trace as the baseline. Output: FILE_comparison next to the workbook, `comparison` below
/// the CSV folder. Adds the written paths to `current`. Errors: those of report_trace() and
/// compare_reports(), kOutput.
Result<void> write_report_comparison(Session& session, const ReportRequest& request,
                                     TraceReport& current);

/// Checks, before any trace is read, that the comparison flags fit together. Errors: kUsage.
Result<void> check_comparison(const ReportRequest& request);

} // namespace rankscope
