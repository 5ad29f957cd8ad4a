// CSV of RFC 4180: splits text into records and formats cells. Lines end with LF or CRLF. A writer
// that was killed, or two writers at the same time, can leave incomplete records in the file;
// next_csv_record() limits the data lost to such a record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A field without its surrounding quotes.
struct CsvField {
  std::string_view text;
  bool doubled = false; ///< the text contains doubled quotes, which unquoted() replaces by single
                        ///< quotes
  [[nodiscard]] std::string unquoted() const;
};

enum class CsvRecord {
  kComplete,
  kTorn,      ///< a quote is not closed; the fields are the line split at every comma
  kNeedsMore, ///< the text ends before the end of the record
};

/// Splits the record at the beginning of `text`, which must not be empty. A quote ends a field if a
/// comma or the end of the line follows it; any other quote is part of the text. A field may span
/// several lines only if its record then has `columns` fields (0 = any number). So an incomplete
/// record does not affect the records after it. `used` becomes the number of bytes of the record
/// and its line break. `at_end`: `text` is the end of the file. The time is linear in the length of
/// the record; if a quote is not closed, up to 64 KiB after the line are searched too.
[[nodiscard]] CsvRecord next_csv_record(std::string_view text, bool at_end, std::size_t columns,
                                        std::vector<CsvField>& fields, std::size_t& used);

/// Format cells, with quotes where necessary. Numbers have six significant digits; a missing value
/// is an empty cell.
void append_csv_cell(std::string& out, std::string_view text);
[[nodiscard]] std::string csv_cell(std::string_view text);
[[nodiscard]] std::string csv_cell(std::uint64_t value);
[[nodiscard]] std::string csv_cell(const std::optional<double>& value);

template <class... Values> [[nodiscard]] std::string csv_line(const Values&... values) {
  return fmt::format("{}\n", fmt::join(std::array{csv_cell(values)...}, ","));
}

} // namespace rankscope
