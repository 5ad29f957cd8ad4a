// Functions for ASCII letters, blanks, quotes, substrings and lists. The locale has no effect on
// them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

/// Returns the parts of `text` between separators, as views; a part can be empty.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size(); at += out.back().size() + 1)
    out.push_back(text.substr(at, text.find(separator, at) - at));
  return out;
}

/// Returns the parts of `text` between characters of `separators` that are not empty, as views.
[[nodiscard]] inline std::vector<std::string_view> split_nonempty(std::string_view text,
                                                                  std::string_view separators) {
  std::vector<std::string_view> out;
  for (std::size_t end = 0, at = 0;
       (at = text.find_first_not_of(separators, end)) != std::string_view::npos;) {
    end = std::min(text.find_first_of(separators, at), text.size());
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

/// Returns `text` in quotes; quotes inside the text are doubled.
[[nodiscard]] inline std::string in_quotes(std::string_view text, char quote = '"') {
  std::string out(1, quote);
  for (const char c : text)
    out.append(c == quote ? 2 : 1, c);
  return out + quote;
}

} // namespace rankscope
