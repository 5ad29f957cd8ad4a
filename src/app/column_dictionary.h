// The column dictionary: every sheet with its columns, from the schemas that make the sheets.
#pragma once

#include "core/report.h"
#include "core/schema.h"

#include <string>
#include <vector>

namespace rankscope {

/// The sheets of one command.
struct SheetGroup {
  std::string command;
  std::string help;
  std::vector<SheetInfo> sheets;
};

/// Returns all sheets, with every option that adds a column. A column whose header contains a name
/// from the trace (a rank, a parameter) is listed once, with NAME in its place.
[[nodiscard]] std::vector<SheetGroup> all_sheets();

/// Returns the text of docs/columns.md.
[[nodiscard]] std::string column_dictionary();
/// Returns the column dictionary as a table, with a row for each column of each sheet.
[[nodiscard]] Report column_report();

} // namespace rankscope
