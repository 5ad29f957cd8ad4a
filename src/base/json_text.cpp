#include "base/json_text.h"

#include "base/utf8.h"

namespace rankscope {

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

namespace {

/// A text with a JSON list; `at` is the position of the next token. Each member function reads one
/// token and returns whether the token was valid.
struct ListText {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] bool done() const { return at >= text.size(); }
  [[nodiscard]] bool is(char c) const { return !done() && text[at] == c; }
  [[nodiscard]] bool is_digit() const { return !done() && text[at] >= '0' && text[at] <= '9'; }
  bool take(char c) {
    const bool found = is(c);
    at += found ? 1 : 0;
    return found;
  }
  void blanks() {
    while (is(' ') || is('\n'))
      ++at;
  }
  bool digits() {
    const std::size_t begin = at;
    while (is_digit())
      ++at;
    return at > begin;
  }
  bool number() {
    take('-');
    const bool zero = is('0');
    const std::size_t begin = at;
    if (!digits() || (zero && at - begin > 1))
      return false;
    if (take('.') && !digits())
      return false;
    if (!take('e') && !take('E'))
      return true;
    if (!take('-'))
      take('+');
    return digits();
  }
  bool string() {
    for (++at; !done() && text[at] != '"'; ++at)
      if (text[at] == '\\' || text[at] < ' ' || text[at] > '~') // only plain ASCII
        return false;
    return take('"');
  }
};

} // namespace

bool is_plain_json_list(std::string_view text) {
  ListText list{text};
  int depth = 0;
  bool value = true;  // a value may follow here
  bool first = false; // directly after '[': the list may also end
  for (list.blanks(); !list.done(); list.blanks()) {
    if (depth == 0 && (!list.is('[') || !value))
      return false;
    if (list.take('[')) {
      if (!value)
        return false;
      ++depth;
      first = true;
    } else if (list.take(']')) {
      if (value && !first)
        return false; // a comma must not be the last token of a list
      --depth;
      value = first = false;
    } else if (list.take(',')) {
      if (value)
        return false;
      value = true;
    } else {
      if (!value || !(list.is('"') ? list.string() : list.number()))
        return false;
      value = first = false;
    }
  }
  return depth == 0 && !value;
}

} // namespace rankscope
