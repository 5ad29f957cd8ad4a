// Where a report goes: a file (workbook, JSON, Markdown, one CSV) and a folder of CSV files.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct ReportOutputs {
  std::string file;    ///< "" = none
  std::string format;  ///< of the file: the name of a writer; "" = by its ending
  std::string csv_dir; ///< "" = none
};

/// How many sheets the report will have.
enum class Sheets { kUnknown, kSeveral };

/// Checks, before the long part, for errors of write_outputs(): kUsage if the file's ending names
/// no format and `format` is empty, or is .csv for several sheets; kOutput if the file cannot be
/// created. An existing path that is not a regular file (a pipe, a device) needs no ending and gets
/// a workbook.
Result<void> check_outputs(const ReportOutputs& outputs, Sheets sheets = Sheets::kUnknown);

/// Checks an output with one format: kUsage unless `path` ends in one of `endings`, is "-", or
/// exists and is not a regular file.
Result<void> check_ending(const std::string& path, std::initializer_list<std::string_view> endings);

/// Writes the requested outputs and returns their paths, the CSV folder first. A file that ends in
/// .csv contains the report's only sheet. Errors: kUsage (see check_outputs(); .csv and several
/// sheets), kUnreadable if the report has no sheet (existing files stay unchanged), kOutput.
Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs);

} // namespace rankscope
