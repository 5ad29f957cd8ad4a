// Writes a report to a file (workbook, JSON, Markdown, one CSV) and to a folder of CSV files.
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
  std::string format;  ///< writer for the file; "" = by the file's ending
  std::string csv_dir; ///< "" = none
};

/// The number of sheets that the report will have.
enum class Sheets { kUnknown, kSeveral };

/// Checks for errors of write_outputs() before the command does its work. Errors: kUsage if the
/// file's ending names no format and `format` is empty, or if it is .csv for several sheets;
/// kOutput if the file cannot be created. An existing path that is not a regular file (a pipe, a
/// device) needs no ending and gets a workbook.
Result<void> check_outputs(const ReportOutputs& outputs, Sheets sheets = Sheets::kUnknown);

/// Returns the path of a trace without .gz, .zst and the ending of its format.
[[nodiscard]] std::string without_trace_ending(std::string path);

/// Returns the output of a command without -o, if no other tool determines its name:
/// rankscope_out/NAME`ending` next to the input. NAME is the last name in its path, without the
/// ending of a trace; for "" and "-" (standard input), it is `command`, in the current folder.
[[nodiscard]] std::string default_output(const std::string& input, const std::string& command,
                                         std::string_view ending);

/// Checks an output that has only one format. Errors: kUsage unless `path` ends in one of
/// `endings`, is "-", or exists and is not a regular file.
Result<void> check_ending(const std::string& path, std::initializer_list<std::string_view> endings);

/// Writes the requested outputs and returns their paths, the CSV folder first. A file that ends in
/// .csv contains the report's only sheet. Errors: kUsage (see check_outputs(); .csv and several
/// sheets), kUnreadable if the report has no sheet (existing files stay unchanged), kOutput.
Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs);

} // namespace rankscope
