#include "app/write_outputs.h"

#include "app/write_streams.h"

#include "os/output_file.h"
#include "writers/stream_writer.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

const char* const kEndings = "expected .xlsx, .json, .md, or .csv for one sheet";

/// Returns the writer of outputs.file; nullptr for a single CSV.
Result<const Writer*> writer_of(const ReportOutputs& outputs) {
  if (!outputs.format.empty())
    return find_writer(outputs.format);
  const std::filesystem::path path(outputs.file);
  const std::string ending = path.extension().string();
  if (ending == ".csv")
    return nullptr;
  for (const Writer* writer : writers())
    if (ending == writer->ending)
      return writer;
  std::error_code ec;
  const std::filesystem::file_status there = std::filesystem::status(path, ec);
  if (!ec && std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return find_writer("xlsx");
  return Error{ErrorCode::kUsage, outputs.file,
               fmt::format("{}; {}",
                           ending.empty() ? "the file name has no ending"
                                          : fmt::format("'{}' is not a known file ending", ending),
                           kEndings),
               ""};
}

Error not_one_sheet(const std::string& path, const std::string& has) {
  return {ErrorCode::kUsage, path, "a CSV file contains one sheet, but the report has " + has,
          "choose one sheet, or use --csv-dir FOLDER to write one file per sheet"};
}

Result<void> write_one_csv(const Report& report, const std::string& path) {
  if (report.tables.size() > 1)
    return not_one_sheet(path, std::to_string(report.tables.size()));
  return write_file(path, csv_text(report.tables.front()));
}

} // namespace

Result<void> check_outputs(const ReportOutputs& outputs, Sheets sheets) {
  if (outputs.file.empty())
    return {};
  RS_TRY(const Writer* const writer, writer_of(outputs));
  if (writer == nullptr && sheets == Sheets::kSeveral)
    return not_one_sheet(outputs.file, "several");
  std::error_code ec;
  const std::filesystem::file_status there = std::filesystem::status(outputs.file, ec);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
      !std::filesystem::is_directory(there))
    return {};                                // opening a pipe would wait for its reader
  RS_CHECK(OutputFile::create(outputs.file)); // then discarded
  return {};
}

Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs) {
  return write_outputs(report, outputs, {});
}

Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs,
                                               const RowStreams& streams) {
  std::vector<std::string> written;
  if (outputs.file.empty() && outputs.csv_dir.empty())
    return written;
  if (report.tables.empty())
    return Error{ErrorCode::kUnreadable, outputs.file.empty() ? outputs.csv_dir : outputs.file,
                 "nothing to write: the report has no sheet", ""};
  const Writer* writer = nullptr;
  if (!outputs.file.empty()) {
    RS_TRY(writer, writer_of(outputs));
  }
  if (!outputs.csv_dir.empty()) {
    RS_CHECK(write_streams(*find_writer("csv"), report, streams, outputs.csv_dir));
    written.push_back(outputs.csv_dir);
  }
  if (!outputs.file.empty()) {
    RS_CHECK(writer != nullptr ? write_streams(*writer, report, streams, outputs.file)
                               : write_one_csv(report, outputs.file));
    written.push_back(outputs.file);
  }
  return written;
}

std::string without_trace_ending(std::string path) {
  for (const std::string_view suffix : {".gz", ".zst", ".json", ".rpd", ".db", ".csv"})
    if (path.size() > suffix.size() && path.ends_with(suffix))
      path.resize(path.size() - suffix.size());
  return path;
}

std::string default_output(const std::string& input, const std::string& command,
                           std::string_view ending) {
  const std::filesystem::path folder = "rankscope_out";
  if (input.empty() || input == "-")
    return folder / (command + std::string(ending));
  std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  if (!path.has_filename()) // a folder with '/' at its end
    path = path.parent_path();
  if (path == "." || path == ".." || path.filename() == "..")
    path = std::filesystem::absolute(path).lexically_normal();
  if (!path.has_filename())
    path = path.parent_path();
  return path.parent_path() / folder /
         (without_trace_ending(path.filename()) + std::string(ending));
}

Result<void> check_ending(const std::string& path,
                          std::initializer_list<std::string_view> endings) {
  std::error_code ec;
  const std::filesystem::file_status there = std::filesystem::status(path, ec);
  const bool as_it_is = std::filesystem::exists(there) &&
                        !std::filesystem::is_regular_file(there) &&
                        !std::filesystem::is_directory(there);
  if (path == "-" || as_it_is ||
      std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); }))
    return {};
  return Error{ErrorCode::kUsage, path,
               fmt::format("expected a name that ends in {}", fmt::join(endings, " or ")), ""};
}

} // namespace rankscope
