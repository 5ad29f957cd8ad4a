// The data of a page as bytes: a JSON text, then typed arrays, which scripts use without
// conversion.
//
//   blob  = length:u32 JSON, zeros up to a multiple of 8, arrays (each at a multiple of 8)
//   array in the JSON = {"t": type, "o": offset after the JSON's padding, "n": elements}
//   type  = u8 | u16 | u32 | f64, low byte first
//   times = {"lo": array, "hi": array}: nanoseconds = hi * 2^32 + lo; hi is omitted if it is all 0
//   text  = index into the JSON's list "strings"
#pragma once

#include "base/json_writer.h"
#include "base/string_pool.h"
#include "core/table.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rankscope {

class PageBlob {
public:
  PageBlob() { json.begin_object(); }

  /// The open object, for all members except arrays.
  JsonWriter json;

  /// Returns the index of a text in "strings".
  [[nodiscard]] std::uint32_t text(std::string_view text) { return strings_.intern(text); }
  /// Adds an array of numbers in the smallest type that fits all of them.
  void integers(std::string_view key, std::span<const std::uint32_t> values);
  /// Adds an array of doubles; NaN stays NaN.
  void reals(std::string_view key, std::span<const double> values);
  /// Adds an array of nanoseconds; negative values become 0.
  void times(std::string_view key, std::span<const std::int64_t> ns);
  /// Adds one array with a value of each row: a number, or nanoseconds.
  template <class Rows, class Get>
  void integers_of(std::string_view key, const Rows& rows, const Get& get) {
    integers(key, values_of<std::uint32_t>(rows, get));
  }
  template <class Rows, class Get>
  void times_of(std::string_view key, const Rows& rows, const Get& get) {
    times(key, values_of<std::int64_t>(rows, get));
  }
  /// Adds an object {name, rows, notes, columns: [{id, label, unit, kind, help, delta, status,
  /// data}]}. In a text column, data are texts; in other columns, doubles with NaN for blank cells.
  void table(std::string_view key, const Table& table);
  /// Closes the object and returns the blob. Nothing may be added afterwards.
  [[nodiscard]] std::string take();

private:
  template <class Value, class Rows, class Get>
  static std::vector<Value> values_of(const Rows& rows, const Get& get) {
    std::vector<Value> values;
    values.reserve(rows.size());
    for (const auto& row : rows)
      values.push_back(get(row));
    return values;
  }
  void place(std::string_view key, const char* type, std::size_t count, std::string_view bytes);
  template <class T>
  void integers_as(std::string_view key, const char* type, std::span<const std::uint32_t> values);

  StringPool strings_;
  std::string arrays_;
};

} // namespace rankscope
