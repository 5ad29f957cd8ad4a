// The first sheet of a report's workbook: findings, totals, the longest of each kind, and which
// sheet has more.
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
  std::string_view unit;         ///< of the value
  std::optional<double> percent; ///< of its part
  std::string note;
  std::string sheet; ///< "" = none
};
[[nodiscard]] Schema<OverviewRow> overview_sheet_schema();

/// `facts`: of the report's trace; sheets that the report lacks are not named. With charts of the
/// time line's shares and of the longest kernels.
[[nodiscard]] Table overview_sheet(const TopFacts& facts, const Report& report);

} // namespace rankscope
