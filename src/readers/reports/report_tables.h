// Reports read back: workbooks and folders of CSV files into Tables with typed cells.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope {

/// Reads the tables of a report: `path` is an .xlsx workbook (sheet order) or a folder of CSV files
/// (by name); its diagnostics count incomplete rows. CSV columns whose texts are all numbers or all
/// True/False become numbers or bools; other columns stay text. Empty cells are blank. The rows
/// after a blank row of a workbook table are its notes. Errors: kUnreadable.
Result<Report> read_report_tables(const std::string& path);

/// Reads one table from RFC 4180 text, header row first; rows may be ragged. Errors: kUnreadable
/// when it has more cells than a report can contain. `torn`: gets the number of incomplete rows,
/// which are omitted.
Result<Table> table_from_csv(std::string name, std::string_view text,
                             std::uint64_t* torn = nullptr);

/// Counts incomplete rows of a file as lost.
void report_torn_rows(Diagnostics& diagnostics, const std::string& path, std::uint64_t torn);

} // namespace rankscope
