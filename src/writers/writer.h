// Writers turn a Report into files. Everything goes through OutputFile or TempName.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <span>
#include <string>

namespace rankscope {

struct Writer {
  const char* name;
  const char* ending; ///< of the files it makes, with the dot
  const char* help;
  /// `path` is a file (xlsx, json, markdown) or a folder (csv). Replaces what is there only when
  /// complete.
  Result<void> (*write)(const Report& report, const std::string& path);
};

[[nodiscard]] std::span<const Writer* const> writers();
[[nodiscard]] const Writer* find_writer(std::string_view name);

/// Shortest decimal text that reads back as the same double; "" for NaN, inf as "inf".
[[nodiscard]] std::string shortest_double(double value);
/// RFC 4180 text of a table: header row, LF line ends.
[[nodiscard]] std::string csv_text(const Table& table);
/// Returns the complete report as one JSON object.
[[nodiscard]] std::string json_text(const Report& report);

#define RANKSCOPE_WRITER(id) extern const Writer id##_writer;
#include "writers/writers.def"
#undef RANKSCOPE_WRITER

} // namespace rankscope
