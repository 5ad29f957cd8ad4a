// The first sheet of a report's workbook: findings, totals, the longest items of each kind, and the
// sheets with more details.
#pragma once

#include "analyses/top/top_facts.h"
#include "core/report.h"
#include "core/schema.h"

#include <string>

namespace rankscope {

/// A line of the sheet.
struct OverviewRow {
  std::string part; ///< "time", "idle", "kernel", "operator", "category", "collective", ...
  std::string what;
  std::optional<double> value;
  std::string_view unit;         ///< unit of `value`
  std::optional<double> percent; ///< `value` as a percentage of its part
  std::string note;
  std::string sheet; ///< sheet with more details; "" if there is no such sheet
};
[[nodiscard]] Schema<OverviewRow> overview_sheet_schema();

/// Returns the sheet for the facts of the report's trace, with charts of the timeline's shares and
/// of the longest kernels. Names only sheets that the report contains.
[[nodiscard]] Table overview_sheet(const TopFacts& facts, const Report& report);

} // namespace rankscope
