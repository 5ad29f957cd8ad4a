#include "base/json_text.h"

#include <cstdint>

namespace rankscope {
namespace {

/// Length of the UTF-8 sequence at text[at], 0 when it is not one (RFC 3629).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(at);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first <= 0xdf ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  const std::uint8_t second = length > 1 ? byte(at + 1) : 0;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

} // namespace

std::string json_escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
      ++i;
    } else {
      const std::size_t n = utf8_length(text, i);
      if (n == 0) {
        out += "\\ufffd";
        ++i;
      } else {
        out.append(text, i, n);
        i += n;
      }
    }
  }
  return out;
}

bool is_plain_json_list(std::string_view text) {
  std::size_t at = 0;
  const auto blank = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  };
  const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  const auto digits = [&] {
    const bool any = digit();
    while (digit())
      ++at;
    return any;
  };
  const auto number = [&] {
    if (at < text.size() && text[at] == '-')
      ++at;
    const bool zero = digit() && text[at] == '0';
    const std::size_t begin = at;
    if (!digits() || (zero && at - begin > 1))
      return false;
    if (at < text.size() && text[at] == '.') {
      ++at;
      if (!digits())
        return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      ++at;
      if (at < text.size() && (text[at] == '-' || text[at] == '+'))
        ++at;
      return digits();
    }
    return true;
  };
  const auto string = [&] {
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"') {
        ++at;
        return true;
      }
      if (text[at] == '\\' || text[at] < ' ' || text[at] > '~') // ASCII as it stands
        return false;
    }
    return false;
  };
  int depth = 0;
  bool value = true;  // a value may come here
  bool first = false; // directly behind '[': the list may also end
  for (blank(); at < text.size(); blank()) {
    const char c = text[at];
    if (depth == 0 && (c != '[' || !value))
      return false;
    if (c == '[') {
      if (!value)
        return false;
      ++depth;
      ++at;
      first = true;
    } else if (c == ']') {
      if (value && !first)
        return false; // behind a comma
      --depth;
      ++at;
      value = first = false;
    } else if (c == ',') {
      if (value)
        return false;
      ++at;
      value = true;
      first = false;
    } else {
      if (!value || !(c == '"' ? string() : number()))
        return false;
      value = first = false;
    }
  }
  return depth == 0 && !value;
}

} // namespace rankscope
