// CSV of RFC 4180: the scanner of records and the text of written cells. Lines end with LF or CRLF.
// A rule limits the damage of records that a killed or interleaved writer left torn.
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
  bool doubled = false; ///< the text contains doubled quotes: see unquoted()
  [[nodiscard]] std::string unquoted() const;
};

enum class CsvRecord {
  kComplete,
  kTorn,      ///< a quote is not closed; the fields are those of the line as it is
  kNeedsMore, ///< the text ends before the record does
};

/// Splits the record at the beginning of `text`, which is not empty. A quote ends a field where a
/// comma or the end of the line follows; any other quote is text. A field may span several lines
/// only if its record then has `columns` fields (0 = any number). So a torn record loses only
/// itself. `used` becomes the bytes of the record with its line break. `at_end`: nothing follows
/// `text`. Linear in the record; 64 KiB more where a quote is not closed.
[[nodiscard]] CsvRecord next_csv_record(std::string_view text, bool at_end, std::size_t columns,
                                        std::vector<CsvField>& fields, std::size_t& used);

/// Cells, quoted where necessary; numbers have six digits, and a missing value is an empty cell.
void append_csv_cell(std::string& out, std::string_view text);
[[nodiscard]] std::string csv_cell(std::string_view text);
[[nodiscard]] std::string csv_cell(std::uint64_t value);
[[nodiscard]] std::string csv_cell(const std::optional<double>& value);

template <class... Values> [[nodiscard]] std::string csv_line(const Values&... values) {
  return fmt::format("{}\n", fmt::join(std::array{csv_cell(values)...}, ","));
}

} // namespace rankscope
