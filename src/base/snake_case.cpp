#include "base/snake_case.h"

namespace rankscope {
namespace {

bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

} // namespace

std::string snake_case(std::string_view name) {
  std::string out;
  std::size_t word_end = 0; // end of a word in mixed case that is not split (MoE)
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!lower(c) && !upper(c) && !digit(c)) {
      if (!out.empty() && out.back() != '_')
        out += '_';
      continue;
    }
    for (const std::string_view word : {"MoE", "RoPE", "mHC"})
      if (i >= word_end && name.substr(i).starts_with(word)) {
        word_end = i + word.size();
        if (!out.empty() && out.back() != '_')
          out += '_';
      }
    const bool begins_word =
        upper(c) && i > 0 && i >= word_end &&
        (lower(name[i - 1]) || (upper(name[i - 1]) && i + 1 < name.size() && lower(name[i + 1])) ||
         i == word_end);
    if (begins_word && !out.empty() && out.back() != '_')
      out += '_';
    out += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!out.empty() && out.back() == '_')
    out.pop_back();
  return out;
}

} // namespace rankscope
