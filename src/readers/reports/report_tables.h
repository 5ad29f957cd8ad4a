// Reads reports back: converts workbooks and folders of CSV files into Tables with typed cells.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope {

/// Reads the tables of a report. `path` is an .xlsx workbook (sheet order) or a folder of CSV files
/// (sorted by name). The diagnostics count incomplete rows. A CSV column becomes numbers or bools
/// if all its texts are numbers or True/False; other columns remain text. Empty cells are blank.
/// The rows after a blank row of a workbook table are its notes. Errors: kUnreadable.
Result<Report> read_report_tables(const std::string& path);

/// Reads one table from RFC 4180 text. The first row is the header; rows may have different
/// lengths. `torn` gets the number of incomplete rows, which are omitted. Errors: kUnreadable when
/// the text has more cells than a report can contain.
Result<Table> table_from_csv(std::string name, std::string_view text,
                             std::uint64_t* torn = nullptr);

/// Counts the incomplete rows of a file as lost data.
void report_torn_rows(Diagnostics& diagnostics, const std::string& path, std::uint64_t torn);

} // namespace rankscope
