// A writer converts a Report to files. All files are written with OutputFile or TempName.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <span>
#include <string>

namespace rankscope {

struct Writer {
  const char* name;
  const char* ending; ///< ending of its files, with the dot
  const char* help;
  /// Writes the report. `path` is a file (xlsx, json, markdown) or a folder (csv). If it exists, it
  /// is replaced when the new file or folder is complete.
  Result<void> (*write)(const Report& report, const std::string& path);
};

[[nodiscard]] std::span<const Writer* const> writers();
[[nodiscard]] const Writer* find_writer(std::string_view name);

/// Returns the shortest decimal text that converts back to the same double; "" for NaN, "inf" for
/// infinity.
[[nodiscard]] std::string shortest_double(double value);
/// Returns a table as RFC 4180 text with a header row and LF line ends.
[[nodiscard]] std::string csv_text(const Table& table);
/// Returns the complete report as one JSON object.
[[nodiscard]] std::string json_text(const Report& report);

#define RANKSCOPE_WRITER(id) extern const Writer id##_writer;
#include "writers/writers.def"
#undef RANKSCOPE_WRITER

} // namespace rankscope
