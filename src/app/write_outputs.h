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

/// What write_outputs() would refuse, said before the long part: kUsage when the file's ending
/// names no format and `format` is empty, or is .csv for several sheets; kOutput when it cannot be
/// made where it is to lie. What is there already and no regular file (a pipe, a device) needs no
/// ending: a workbook.
Result<void> check_outputs(const ReportOutputs& outputs, Sheets sheets = Sheets::kUnknown);

/// Of an output with one format: kUsage unless `path` ends in one of `endings`, is "-" or is there
/// and no regular file.
Result<void> check_ending(const std::string& path, std::initializer_list<std::string_view> endings);

/// Writes what is asked for; the paths written, the CSV folder first. A file that ends in .csv
/// holds the one sheet that the report has. Errors: kUsage (see check_outputs(); .csv and several
/// sheets), kUnreadable when the report has no sheet: what is there already is left as it was;
/// kOutput.
Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs);

} // namespace rankscope
