// Reads a large CSV file row by row, without copies of the fields.
#pragma once

#include "base/csv.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class ByteSource;

/// Reads records as base/csv.h does. A byte order mark is skipped. The texts of fields are valid
/// until the next row is read.
class CsvLines {
public:
  explicit CsvLines(ByteSource& source);

  /// Reads the next row that is not blank. Returns false at the end. An incomplete row has no
  /// fields.
  bool next();
  [[nodiscard]] std::size_t fields() const { return fields_.size(); }
  [[nodiscard]] std::string_view text(std::size_t field) const {
    return field < fields_.size() ? fields_[field].text : std::string_view();
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t field) const;
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
  bool fill();
  bool skip_line();
  void unquote();

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0; ///< start of the next row in buffer_
  bool at_end_ = false;
  std::size_t columns_ = 0; ///< number of columns in the first row
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::uint64_t bytes_ = 0;
  std::vector<CsvField> fields_;
  std::deque<std::string> unquoted_; ///< texts of fields with doubled quotes
};

/// Finds the columns of a header by name.
class CsvColumns {
public:
  explicit CsvColumns(const CsvLines& header);
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t at(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return at(name) != kNone; }

private:
  std::map<std::string, std::size_t, std::less<>> places_;
};

} // namespace rankscope
