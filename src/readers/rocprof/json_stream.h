// Reads a JSON document that is too large for memory. The caller enters objects and lists, and
// reads each small value as a complete text.
#pragma once

#include "os/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

class JsonStream {
public:
  explicit JsonStream(ByteSource& source) : source_(source) {}

  /// Reads the character `bracket`. Returns false if the next character is a different one.
  bool enter(char bracket);
  /// Reads the key of the next member, with '"' and escapes as in the file. Returns false at the
  /// end of the object.
  bool key(std::string& key);
  /// Returns whether the list has another item, and moves to it.
  bool item();
  /// Returns the next value as text, valid until the next call. Returns nullopt if the document
  /// ends within the value, if the text is not a value, or if the value is larger than kMostValue;
  /// then the stream is broken.
  [[nodiscard]] std::optional<std::string_view> value();
  /// Skips the next value, which may have any size. Returns false if the stream is broken.
  bool skip();

  /// The maximum size of one value: a small compressed file can contain values of any size.
  static constexpr std::size_t kMostValue = std::size_t{16} << 20U;

  /// Returns whether the document ended early, is not JSON, or contains a value that is too large.
  [[nodiscard]] bool broken() const { return broken_; }
  /// Returns why the stream is broken.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return source_.file_bytes(); }
  /// Returns the number of bytes that were read, after decompression.
  [[nodiscard]] std::uint64_t offset() const { return passed_ + at_; }
  /// Returns the text for a position in messages, like ByteSource::place().
  [[nodiscard]] std::string place(std::uint64_t offset) const { return source_.place(offset); }

private:
  bool fill();
  /// Returns the next character that is not blank; 0 at the end.
  char next();

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t passed_ = 0; ///< number of bytes of the document before the buffer
  bool at_end_ = false;
  bool broken_ = false;
  bool too_large_ = false;
};

/// Visits the members of one record in one pass, also those of nested objects. `field` gets the key
/// of the enclosing object ("" for the record itself), the key, and the text of the value: a
/// number, or a string without its quotes. Returns false if the text is not an object, or if it is
/// nested more deeply than records are.
template <class Field> bool visit_fields(std::string_view object, Field&& field);

namespace json_record {

constexpr int kDeepest = 6;

inline const char* blank(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
    ++p;
  return p;
}

/// Returns the closing quote of a string, or `end`. p is the position after the opening quote.
inline const char* string_end(const char* p, const char* end) {
  while (p < end && *p != '"')
    p += *p == '\\' ? 2 : 1;
  return p < end ? p : end;
}

/// Returns the position after the closing bracket of the list at p, or `end`. Fields in lists are
/// not visited.
inline const char* list_end(const char* p, const char* end) {
  int open = 0;
  do {
    if (*p == '"')
      p = string_end(p + 1, end);
    else
      open += *p == '[' ? 1 : *p == ']' ? -1 : 0;
    ++p;
  } while (open > 0 && p < end);
  return p < end ? p : end;
}

inline const char* number_end(const char* p, const char* end) {
  while (p < end && *p != ',' && *p != '}' && *p != ' ' && *p != '\n' && *p != '\r')
    ++p;
  return p;
}

template <class Field>
const char* visit(const char* p, const char* end, std::string_view parent, int depth, Field& field);

/// Visits the value of a member; p is at its first byte. Returns the position after the value, or
/// nullptr.
template <class Field>
const char* visit_value(const char* p, const char* end, std::string_view parent,
                        std::string_view name, int depth, Field& field) {
  if (*p == '{')
    return depth < kDeepest ? visit(p, end, name, depth + 1, field) : nullptr;
  if (*p == '[')
    return list_end(p, end);
  const bool quoted = *p == '"';
  const char* const text = p + (quoted ? 1 : 0);
  const char* const text_end = quoted ? string_end(text, end) : number_end(text, end);
  field(parent, name, std::string_view(text, static_cast<std::size_t>(text_end - text)));
  if (!quoted)
    return text_end;
  return text_end < end ? text_end + 1 : nullptr;
}

template <class Field>
const char* visit(const char* p, const char* end, std::string_view parent, int depth,
                  Field& field) {
  for (p = blank(p + 1, end); p < end && *p != '}'; p = blank(p, end)) {
    if (*p == ',') {
      ++p;
      continue;
    }
    if (*p != '"')
      return nullptr;
    const char* const key = p + 1;
    const char* const key_end = string_end(key, end);
    const std::string_view name(key, static_cast<std::size_t>(key_end - key));
    p = key_end < end ? blank(key_end + 1, end) : end;
    if (p >= end || *p != ':')
      return nullptr;
    p = blank(p + 1, end);
    p = p < end ? visit_value(p, end, parent, name, depth, field) : nullptr;
    if (p == nullptr)
      return nullptr;
  }
  return p < end ? p + 1 : nullptr;
}

} // namespace json_record

template <class Field> bool visit_fields(std::string_view object, Field&& field) {
  const char* const begin = object.data();
  return !object.empty() && *begin == '{' &&
         json_record::visit(begin, begin + object.size(), {}, 0, field) != nullptr;
}

} // namespace rankscope
