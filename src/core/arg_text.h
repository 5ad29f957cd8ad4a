// Operator arguments: JSON text to its normal form, to values, and to the Python text that the
// reference's tables show.
#pragma once

#include "base/string_pool.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Returns the text as Kineto and Python's json write it: a space behind each comma and colon, no
/// other white space outside of strings. So equal arguments are equal texts in files of all
/// producers: "[[2,3],\n []]" -> "[[2, 3], []]".
[[nodiscard]] std::string normal_arg_text(std::string_view json);

/// The values of a trace's argument texts, each parsed once, at its first use. Thread-safe.
class ArgValues {
public:
  ArgValues() : state_(std::make_unique<State>()) {}
  /// Of a text of `strings`, always the same pool. The empty text gives a kNull value.
  [[nodiscard]] std::shared_ptr<const ArgValue> of(StrId text, const StringPool& strings) const;

private:
  struct State {
    std::mutex mutex;
    std::unordered_map<StrId, std::shared_ptr<const ArgValue>> values;
  };
  std::unique_ptr<State> state_; ///< so that a trace can move
};

/// Python's repr of the value. `tuples`: lists print as tuples, as the grouping keys of the
/// reference do: "[[8944, 1024], []]" -> "((8944, 1024), ())". Otherwise as lists. Empty text gives
/// "".
[[nodiscard]] std::string python_repr(const ArgValue& value, bool tuples);
[[nodiscard]] std::string python_repr(std::string_view json, bool tuples);

/// Python's repr of a text: single quotes unless the text contains one and no double quote.
[[nodiscard]] std::string python_quote(std::string_view text);

} // namespace rankscope
