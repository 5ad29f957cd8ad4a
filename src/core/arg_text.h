// Operator arguments as Kineto records them: raw JSON text to values, and to the Python text that
// the reference's tables show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// One JSON value of an argument list.
struct ArgValue {
  enum class Kind { kNull, kInt, kFloat, kBool, kText, kList } kind = Kind::kNull;
  std::int64_t i = 0;
  double d = 0;
  std::string text; ///< kText: unescaped
  std::vector<ArgValue> list;

  [[nodiscard]] bool is_int_list() const; ///< a list whose items are all integers (also empty)
  [[nodiscard]] std::vector<std::int64_t> ints() const;
};

/// Malformed text gives a kNull value.
[[nodiscard]] ArgValue parse_arg_text(std::string_view json);

/// Python's repr of the value. `tuples`: lists print as tuples, as the grouping keys of the
/// reference do: "[[8944, 1024], []]" -> "((8944, 1024), ())". Otherwise as lists. Empty text gives
/// "".
[[nodiscard]] std::string python_repr(const ArgValue& value, bool tuples);
[[nodiscard]] std::string python_repr(std::string_view json, bool tuples);

/// Python's repr of a text: single quotes unless the text holds one and no double quote.
[[nodiscard]] std::string python_quote(std::string_view text);

} // namespace rankscope
