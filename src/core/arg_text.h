// Operator arguments: converts JSON text to its normal form, to values, and to Python text as in
// the tables of the reference tool.
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
  std::string text; ///< for kText: without escapes
  std::vector<ArgValue> list;

  [[nodiscard]] bool is_int_list() const; ///< a list of integers only, possibly empty
  [[nodiscard]] std::vector<std::int64_t> ints() const;
};

/// Parses an argument. Invalid text gives a kNull value.
[[nodiscard]] ArgValue parse_arg_text(std::string_view json);

/// Returns the text with white space as Kineto and Python's json write it: one space after each
/// comma and colon, no other white space outside strings. So equal arguments have equal texts,
/// whatever program wrote the file: "[[2,3],\n []]" -> "[[2, 3], []]".
[[nodiscard]] std::string normal_arg_text(std::string_view json);

/// The values of the argument texts of one trace. Each text is parsed when its value is first
/// needed. Thread-safe.
class ArgValues {
public:
  ArgValues() : state_(std::make_unique<State>()) {}
  /// Returns the value of a text in `strings`, which must be the same pool in every call. The empty
  /// text gives a kNull value.
  [[nodiscard]] std::shared_ptr<const ArgValue> value(StrId text, const StringPool& strings) const;

private:
  struct State {
    std::mutex mutex;
    std::unordered_map<StrId, std::shared_ptr<const ArgValue>> values;
  };
  std::unique_ptr<State> state_; ///< a pointer, so that a trace can move
};

/// Returns Python's repr of the value. With `tuples`, lists are written as tuples, as in the
/// grouping keys of the reference: "[[8944, 1024], []]" -> "((8944, 1024), ())". Otherwise they are
/// written as lists. Empty text gives "".
[[nodiscard]] std::string python_repr(const ArgValue& value, bool tuples);
[[nodiscard]] std::string python_repr(std::string_view json, bool tuples);

/// Returns Python's repr of a text: in double quotes if the text contains single quotes and no
/// double quotes, otherwise in single quotes.
[[nodiscard]] std::string python_quote(std::string_view text);

} // namespace rankscope
