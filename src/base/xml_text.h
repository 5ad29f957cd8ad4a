// Escapes text for HTML, SVG and XML.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `text` escaped for use between tags and in attributes.
[[nodiscard]] inline std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
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
