// Text for HTML, SVG and XML.
#pragma once

#include "base/utf8.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `text` with '?' for each character that XML 1.0 does not allow (most control characters,
/// U+FFFE, U+FFFF) and U+FFFD for each byte that is not UTF-8.
[[nodiscard]] inline std::string xml_characters(std::string_view text) {
  std::string out = repaired_utf8(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r')
      c = '?';
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = 0; (at = out.find(none, at)) != std::string::npos;)
      out.replace(at, 3, "?");
  return out;
}

/// Returns xml_characters() escaped for use between tags and in attributes.
[[nodiscard]] inline std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : xml_characters(text))
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

} // namespace rankscope
