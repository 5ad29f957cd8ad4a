// Tables of several reports side by side (docs/reference/compare-rules.md 1).
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <set>
#include <string>
#include <vector>

namespace rankscope {

struct CompareReportsOptions {
  /// The sheets to compare: gpu_timeline, ops_summary, kernel_summary, ops_all, roofline; "all" or
  /// empty = all of them.
  std::set<std::string> sheets;
  /// Reproduces the reference: every baseline row of a key is combined with every variant row of
  /// this key. With "all", a missing ops_summary or kernel_summary is an error.
  bool compat_tracelens = false;
};

/// Compares reports[0], the baseline, with the other reports. `tags` has one distinct name per
/// report, the name of the baseline first. Columns: keys, then `<column>__<tag>_diff` = variant -
/// baseline and `_pct` = 100 * diff / baseline (blank when the baseline is 0 or absent), then
/// `<tag>::<column>`. Without compat, the k-th rows of a key in all reports are matched, and
/// `present_in` names the reports that have the row. Errors: kUsage for tags that clash or a sheet
/// that no report has; with compat, kUnreadable for a sheet with more than 6 million combined
/// cells.
Result<Report> compare_reports(const std::vector<Report>& reports,
                               const std::vector<std::string>& tags,
                               const CompareReportsOptions& options);

} // namespace rankscope
