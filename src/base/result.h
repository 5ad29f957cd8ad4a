// Result<T>: a value or an Error. The names follow std::expected, so that Result can become an
// alias for it later; g++ 12 and clang 14 have no std::expected in C++20.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace rankscope {

/// Kinds of failure. exit_code() returns the documented process exit code of each.
enum class ErrorCode {
  kUsage,       ///< wrong flags or arguments: exit 2
  kUnreadable,  ///< an input cannot be opened or has another format: exit 3
  kOutput,      ///< an output cannot be written (full disk, read-only folder): exit 6
  kMissingTool, ///< a requested external program is not installed: exit 7
  kInterrupted, ///< Ctrl-C or SIGTERM: exit 130
  kRegression,  ///< a --fail-on condition is true: exit 5
  kInternal,    ///< a bug: exit 70
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string where; ///< file plus byte offset, line or event; may be empty
  std::string what;  ///< what was found and what was expected
  std::string hint;  ///< what the user can do; may be empty

  /// Returns "where: what (hint)" on one line.
  [[nodiscard]] std::string message() const;
};

/// Returns the documented exit code: 0 success, 2 usage, 3 input unreadable, 4 partial, 5
/// regression, 6 output failed, 7 missing tool, 70 internal, 130 interrupted.
[[nodiscard]] int exit_code(ErrorCode code);

template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] Error& error() { return std::get<1>(state_); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

private:
  std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] Error& error() { return *error_; }
  [[nodiscard]] const Error& error() const { return *error_; }

private:
  std::optional<Error> error_;
};

} // namespace rankscope

#define RS_CONCAT_(a, b) a##b
#define RS_CONCAT(a, b) RS_CONCAT_(a, b)
/// RS_TRY(auto x, expr): unwraps a Result or returns its Error from the enclosing function.
#define RS_TRY(decl, expr)                                                                         \
  auto RS_CONCAT(rs_result_, __LINE__) = (expr);                                                   \
  if (!RS_CONCAT(rs_result_, __LINE__).has_value())                                                \
    return std::move(RS_CONCAT(rs_result_, __LINE__).error());                                     \
  decl = std::move(RS_CONCAT(rs_result_, __LINE__)).value()
/// RS_CHECK(expr): like RS_TRY for a Result<void>.
#define RS_CHECK(expr)                                                                             \
  if (auto rs_status_ = (expr); !rs_status_.has_value())                                           \
  return std::move(rs_status_.error())
