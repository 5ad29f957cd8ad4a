// Functions that scan JSON text in a buffer: they find strings and numbers, and skip values. They
// never read past `end`; only unescape() allocates memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rankscope::json {

inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

inline const char* skip_space(const char* p, const char* end) {
#if defined(__SSE2__)
  const auto blanks = [](const char* at) { // returns 16 bits, one per character
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto same = [block](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
    return static_cast<unsigned>(_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(same(' '), same('\n')), _mm_or_si128(same('\r'), same('\t')))));
  };
  while (end - p >= 16 && is_space(*p)) { // usually there are only a few blanks
    const unsigned mask = blanks(p);
    if (mask != 0xffffU)
      return p + __builtin_ctz(~mask);
    p += 16;
  }
#endif
  while (p < end && is_space(*p))
    ++p;
  return p;
}

/// Returns the first '"' or '\\' at or after p, or `end`.
inline const char* find_quote_or_escape(const char* p, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const int mask =
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, slash)));
    if (mask != 0)
      return p + __builtin_ctz(static_cast<unsigned>(mask));
    p += 16;
  }
#endif
  while (p < end && *p != '"' && *p != '\\')
    ++p;
  return p;
}

/// Returns the closing quote of a string, or `end` if the string is not closed. p is the position
/// after the opening quote. `escaped`: whether the string contains escapes.
inline const char* string_end(const char* p, const char* end, bool& escaped) {
  escaped = false;
  for (;;) {
    p = find_quote_or_escape(p, end);
    if (p >= end || *p == '"')
      return p;
    escaped = true;
    p += 2;
    if (p > end)
      return end;
  }
}

/// Returns the first of '"', '{', '}', '[', ']' at or after p, or `end`.
inline const char* find_structure(const char* p, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i open =
      _mm_set1_epi8('{' & 0xdf); // '[' and '{' differ in one bit; so do ']' and '}'
  const __m128i close = _mm_set1_epi8('}' & 0xdf);
  const __m128i clear = _mm_set1_epi8(static_cast<char>(0xdf));
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i folded = _mm_and_si128(block, clear);
    const __m128i hits =
        _mm_or_si128(_mm_cmpeq_epi8(block, quote),
                     _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)));
    const int mask = _mm_movemask_epi8(hits);
    if (mask != 0)
      return p + __builtin_ctz(static_cast<unsigned>(mask));
    p += 16;
  }
#endif
  while (p < end && *p != '"' && *p != '{' && *p != '}' && *p != '[' && *p != ']')
    ++p;
  return p;
}

/// The stack of open brackets. Their kinds are stored for up to 64 levels; deeper levels are only
/// counted.
class OpenBrackets {
public:
  void open(char bracket) {
    objects_ = objects_ << 1U | (bracket == '{' ? 1U : 0U);
    ++depth_;
    deep_ = deep_ || depth_ > 64;
  }
  /// Closes a bracket. Returns false if the innermost open bracket has the other kind.
  bool close(char bracket) {
    if (!deep_ && in_object() != (bracket == '}'))
      return false;
    objects_ >>= 1U;
    --depth_;
    return true;
  }
  [[nodiscard]] bool none() const { return depth_ == 0; }
  /// Returns whether `c` may be the next character after a string.
  [[nodiscard]] bool may_follow_text(char c) const {
    return c == ',' || c == ']' || c == '}' || (c == ':' && (deep_ || in_object()));
  }

private:
  [[nodiscard]] bool in_object() const { return (objects_ & 1U) != 0; }

  std::int64_t depth_ = 0;
  std::uint64_t objects_ = 0; ///< one bit for each open bracket, the lowest bit for the innermost
                              ///< one: 1 = '{'
  bool deep_ = false;
};

/// Implements skip_value() for a value that begins with a bracket. Damaged text must not be
/// accepted: if a quote is lost, text outside strings is read as strings, and lost bytes can join
/// two events. Therefore brackets must match, and the character after each string is checked.
inline const char* skip_brackets(const char* p, const char* end) {
  OpenBrackets brackets;
  bool escaped = false;
  for (;; ++p) {
    p = find_structure(p, end);
    if (p >= end)
      return nullptr;
    if (*p == '"') {
      p = string_end(p + 1, end, escaped);
      if (p >= end)
        return nullptr;
      const char* const after = skip_space(p + 1, end);
      if (after < end && !brackets.may_follow_text(*after))
        return nullptr;
    } else if (*p == '{' || *p == '[') {
      brackets.open(*p);
    } else {
      if (!brackets.close(*p))
        return nullptr;
      if (brackets.none())
        return p + 1;
    }
  }
}

/// Skips one value of any kind. Returns the position after it, or nullptr if the text is not a
/// value or if the value does not end before `end`.
inline const char* skip_value(const char* p, const char* end) {
  p = skip_space(p, end);
  if (p >= end)
    return nullptr;
  if (*p == '"') {
    bool escaped = false;
    p = string_end(p + 1, end, escaped);
    return p < end ? p + 1 : nullptr;
  }
  if (*p == '{' || *p == '[')
    return skip_brackets(p, end);
  const char* const start = p;
  while (p < end && *p != ',' && *p != '}' && *p != ']' && *p != ' ' && *p != '\n' && *p != '\r' &&
         *p != '\t' && *p != '"' && *p != ':' && *p != '{' && *p != '[')
    ++p;
  return p > start && p < end ? p : nullptr;
}

/// Decodes the escapes in a JSON string (the text between the quotes). \u surrogate pairs are
/// joined; invalid escapes do not change.
std::string unescape(std::string_view raw);

/// Converts a decimal text in microseconds to integer nanoseconds, without rounding up to three
/// decimals; more decimals are rounded half up. Returns false if the text is not a finite number or
/// does not fit.
bool us_text_to_ns(std::string_view text, std::int64_t& ns);

/// Parses an integer, also in forms such as "12.0" and "1e3". Returns false for other text.
bool text_to_int(std::string_view text, std::int64_t& value);

} // namespace rankscope::json
