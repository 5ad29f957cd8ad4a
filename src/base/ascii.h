// Functions for ASCII letters, blanks, quotes and substrings. The locale has no effect on them.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `text` with the letters A to Z in lower case; other bytes do not change.
[[nodiscard]] inline std::string lowercase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Returns `text` without the characters in `blanks` at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text,
                                              std::string_view blanks = " \t\r") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

[[nodiscard]] constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns `text` in quotes; quotes inside the text are doubled.
[[nodiscard]] inline std::string in_quotes(std::string_view text, char quote = '"') {
  std::string out(1, quote);
  for (const char c : text)
    out.append(c == quote ? 2 : 1, c);
  return out + quote;
}

} // namespace rankscope
