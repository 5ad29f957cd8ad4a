// Compares report files (workbooks or CSV folders, from rankscope or other tools).
#pragma once

#include "analyses/compare/compare_reports.h"
#include "app/write_outputs.h"
#include "core/finding.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct CompareReportsRequest {
  std::vector<std::string> reports; ///< the baseline's report first
  std::vector<std::string> names;   ///< one per report; empty = file names
  CompareReportsOptions options;
  ReportOutputs outputs;   ///< if file and csv_dir are empty: comparison.xlsx
  bool only_asked = false; ///< write requested files only
};

struct ComparedReports {
  Report report;
  std::vector<Finding> notes; ///< notes to read before any value
  std::vector<std::string> written;
};

/// Errors: those of check_outputs() before any report is read, kUnreadable, those of
/// compare_reports(), kOutput.
Result<ComparedReports> compare_report_files(Session& session,
                                             const CompareReportsRequest& request);

} // namespace rankscope
