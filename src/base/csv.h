// CSV of RFC 4180: the one scanner of records, with LF or CRLF and a rule for records that a killed
// or interleaved writer left torn, and the cells of what is written.
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

/// A field without the quotes around it.
struct CsvField {
  std::string_view text;
  bool doubled = false; ///< quotes in it are doubled: see unquoted()
  [[nodiscard]] std::string unquoted() const;
};

enum class CsvRecord {
  kComplete,
  kTorn,      ///< a quote is not closed; the fields are those of its line as it is
  kNeedsMore, ///< the text ends before the record does
};

/// Splits the record at the beginning of `text`, which is not empty. A quote ends a field where a
/// comma or the end of the line follows; another one is text. A field over several lines is taken
/// only where its record then has `columns` fields (0 = any number), so that a torn record costs
/// itself only. `used` becomes the bytes of the record with its line break. `at_end`:
/// nothing follows `text`. Linear in the record; 64 KiB more where a quote is not closed.
[[nodiscard]] CsvRecord next_csv_record(std::string_view text, bool at_end, std::size_t columns,
                                        std::vector<CsvField>& fields, std::size_t& used);

/// A cell, quoted where it has to be; numbers have six digits, no value is an empty cell.
void append_csv_cell(std::string& out, std::string_view text);
[[nodiscard]] std::string csv_cell(std::string_view text);
[[nodiscard]] std::string csv_cell(std::uint64_t value);
[[nodiscard]] std::string csv_cell(const std::optional<double>& value);

template <class... Values> [[nodiscard]] std::string csv_line(const Values&... values) {
  return fmt::format("{}\n", fmt::join(std::array{csv_cell(values)...}, ","));
}

} // namespace rankscope
