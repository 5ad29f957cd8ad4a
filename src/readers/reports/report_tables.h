// Reads reports of earlier runs: converts workbooks and folders of CSV files into Tables with typed
// cells.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope {

/// Reads the tables of a report. `path` is an .xlsx workbook (tables in the order of the sheets) or
/// a folder of CSV files (sorted by name). The diagnostics of the report count incomplete rows. The
/// cells of a CSV column are numbers (or bools) if all its texts are numbers (or True/False);
/// otherwise they are texts. Empty cells are blank. In a workbook, rows after a blank row are the
/// notes of the table. Errors: kUnreadable.
Result<Report> read_report_tables(const std::string& path);

/// Makes a table from RFC 4180 text. The first row is the header; rows may have different lengths.
/// Incomplete rows are omitted, and `torn` is set to their number. Errors: kUnreadable if the text
/// has more cells than a report can contain.
Result<Table> table_from_csv(std::string name, std::string_view text,
                             std::uint64_t* torn = nullptr);

/// Reports the incomplete rows of a file as lost data.
void report_torn_rows(Diagnostics& diagnostics, const std::string& path, std::uint64_t torn);

} // namespace rankscope
