// JSON as a value that can be changed, for merging configuration files. Objects keep the order of
// their members.
#pragma once

#include "base/result.h"

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct JsonMember;

struct Json {
  enum class Kind { kNull, kBool, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  bool flag = false;
  std::string text; ///< value of kText; digits of kNumber as in JSON
  std::vector<Json> items;
  std::vector<JsonMember> members;

  Json(); // defined below: clang needs the size of a member first
  ~Json();
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;

  // conversions of values; an empty std::optional is null
  template <std::same_as<bool> Bool> Json(Bool value) : kind(Kind::kBool), flag(value) {}
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) Json(Int value)
      : kind(Kind::kNumber), text(std::to_string(value)) {}
  Json(double value); ///< infinity and NaN become null
  Json(std::string_view value);
  Json(const char* value) : Json(std::string_view(value)) {}
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const std::vector<std::string>& texts);
  template <class T> Json(const std::optional<T>& value) {
    if (value)
      *this = Json(*value);
  }
  static Json list();
  /// Returns a list with the result of `make` for each item.
  template <class Items, class Make> static Json list(const Items& items, const Make& make) {
    Json out = list();
    for (const auto& item : items)
      out.items.push_back(make(item));
    return out;
  }
  static Json object();
  static Json object(std::initializer_list<JsonMember> members);

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  /// Returns the member of this name; nullptr when it is missing or this is not an object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  /// Returns the member; adds it when it is missing. A value of another kind becomes an object.
  Json& at(std::string_view key);
  /// Returns the value as the text of an environment variable: the text of kText, the digits of
  /// kNumber, or true/false. Empty for other kinds.
  [[nodiscard]] std::optional<std::string> scalar() const;
  [[nodiscard]] std::optional<double> number() const;
  /// Returns JSON text, indented by two blanks per level.
  [[nodiscard]] std::string dump() const;
};

struct JsonMember {
  std::string key;
  Json value;
};

inline Json::Json() = default;
inline Json::~Json() = default;
inline Json::Json(const Json& other) = default;
inline Json::Json(Json&& other) noexcept = default;
inline Json& Json::operator=(const Json& other) = default;
inline Json& Json::operator=(Json&& other) noexcept = default;

/// Returns a name for messages, such as "an object" or "a text".
[[nodiscard]] const char* kind_name(Json::Kind kind);

/// Parses `text`. Also accepts Python literals (single quotes, True, None, tuples), comments and
/// trailing commas; `notes` then gets a line that says so. `where` names the source in errors.
/// Errors: kUsage.
Result<Json> parse_json(const std::string& text, const std::string& where,
                        std::vector<std::string>* notes);
/// Parses the file's content like parse_json(). Errors: kUnreadable, kUsage.
Result<Json> parse_json_file(const std::string& path, std::vector<std::string>* notes);

/// Merges `over` into `base`: objects are merged deeply, lists and scalars of `over` replace. A
/// member "NAME+" of `over` is appended to the list NAME.
void merge_json(Json& base, const Json& over);

} // namespace rankscope
