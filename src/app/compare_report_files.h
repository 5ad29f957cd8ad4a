// Reports on disk (workbooks or CSV folders, ours or other tools') to one comparison.
#pragma once

#include "analyses/compare/compare_reports.h"
#include "app/write_outputs.h"
#include "core/finding.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct CompareReportsRequest {
  std::vector<std::string> reports; ///< the baseline first
  std::vector<std::string> names;   ///< one for each; empty = names of the files
  CompareReportsOptions options;
  ReportOutputs outputs;   ///< without file and csv_dir: comparison.xlsx
  bool only_asked = false; ///< write requested files only
};

struct ComparedReports {
  Report report;
  std::vector<Finding> notes; ///< what to know before any value
  std::vector<std::string> written;
};

/// Errors: those of check_outputs() before anything is read, kUnreadable, those of
/// compare_reports(), kOutput.
Result<ComparedReports> compare_report_files(Session& session,
                                             const CompareReportsRequest& request);

} // namespace rankscope
