// Letters of names without regard to the locale.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// `text` with A to Z as a to z; other bytes stay.
[[nodiscard]] inline std::string lowercase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

} // namespace rankscope
