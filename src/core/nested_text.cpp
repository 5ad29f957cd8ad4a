#include "core/nested_text.h"

#include "base/json_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace rankscope {
namespace {

constexpr int kDeepest = 64;

bool digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0U | c >> 6U);
    out += static_cast<char>(0x80U | (c & 0x3fU));
  } else {
    out += static_cast<char>(0xe0U | c >> 12U);
    out += static_cast<char>(0x80U | (c >> 6U & 0x3fU));
    out += static_cast<char>(0x80U | (c & 0x3fU));
  }
}

/// Reads one value after another and writes it as JSON. Each member function returns whether it
/// succeeded.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool all() {
    blanks();
    const char c = now();
    if (c != '[' && c != '(' && c != '{')
      return false;
    if (!value(0))
      return false;
    blanks();
    return at_ == text_.size();
  }
  std::string take() { return std::move(out_); }

private:
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (now() == ' ' || now() == '\n' || now() == '\t')
      ++at_;
  }
  bool word(std::string_view word, std::string_view json) {
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    out_ += json;
    return true;
  }

  bool value(int depth) {
    blanks();
    switch (now()) {
    case '[':
      return depth < kDeepest && items(']', depth);
    case '(':
      return depth < kDeepest && items(')', depth);
    case '{':
      return depth < kDeepest && dict(depth);
    case '\'':
    case '"':
      return quoted();
    default:
      break;
    }
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords = {
        {{"True", "true"},
         {"False", "false"},
         {"None", "null"},
         {"true", "true"},
         {"false", "false"},
         {"null", "null"},
         {"nan", "null"},
         {"NaN", "null"},
         {"inf", "null"},
         {"-inf", "null"}}};
    for (const auto& [python, json] : kWords)
      if (word(python, json))
        return true;
    return number();
  }

  bool items(char end, int depth) {
    ++at_;
    out_ += '[';
    bool first = true;
    while (true) {
      blanks();
      if (now() == end)
        break;
      if (!first)
        out_ += ',';
      first = false;
      if (!value(depth + 1))
        return false;
      blanks();
      if (now() == ',')
        ++at_;
      else if (now() != end)
        return false;
    }
    ++at_;
    out_ += ']';
    return true;
  }

  bool dict(int depth) {
    ++at_;
    out_ += '{';
    bool first = true;
    while (true) {
      blanks();
      if (now() == '}')
        break;
      if (!first)
        out_ += ',';
      first = false;
      if ((now() != '\'' && now() != '"') || !quoted())
        return false;
      blanks();
      if (now() != ':')
        return false;
      ++at_;
      out_ += ':';
      if (!value(depth + 1))
        return false;
      blanks();
      if (now() == ',')
        ++at_;
      else if (now() != '}')
        return false;
    }
    ++at_;
    out_ += '}';
    return true;
  }

  bool hex(std::size_t digits, std::string& to) {
    std::uint32_t code = 0;
    if (at_ + digits > text_.size())
      return false;
    const char* const begin = text_.data() + at_;
    const auto read = std::from_chars(begin, begin + digits, code, 16);
    if (read.ec != std::errc() || read.ptr != begin + digits)
      return false;
    at_ += digits;
    append_utf8(to, code >= 0xd800 && code <= 0xdfff ? 0xfffdU : code);
    return true;
  }

  bool escape(std::string& to) {
    const char c = now();
    ++at_;
    switch (c) {
    case 'n':
      to += '\n';
      return true;
    case 't':
      to += '\t';
      return true;
    case 'r':
      to += '\r';
      return true;
    case 'b':
      to += '\b';
      return true;
    case 'f':
      to += '\f';
      return true;
    case 'x':
      return hex(2, to);
    case 'u':
      return hex(4, to);
    case '\\':
    case '/':
    case '\'':
    case '"':
      to += c;
      return true;
    default:
      return false;
    }
  }

  bool quoted() {
    const char quote = now();
    ++at_;
    std::string text;
    while (at_ < text_.size() && now() != quote) {
      if (now() != '\\') {
        text += now();
        ++at_;
        continue;
      }
      ++at_;
      if (at_ >= text_.size() || !escape(text))
        return false;
    }
    if (at_ >= text_.size())
      return false;
    ++at_;
    out_ += '"';
    out_ += json_escaped(text);
    out_ += '"';
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    if (now() == '-')
      ++at_;
    const std::size_t first_digit = at_;
    while (digit(now()))
      ++at_;
    if (at_ == first_digit || (at_ - first_digit > 1 && text_[first_digit] == '0'))
      return false;
    if (now() == '.') {
      const std::size_t dot = at_++;
      while (digit(now()))
        ++at_;
      if (at_ == dot + 1)
        return false;
    }
    if (now() == 'e' || now() == 'E') {
      ++at_;
      if (now() == '+' || now() == '-')
        ++at_;
      const std::size_t power = at_;
      while (digit(now()))
        ++at_;
      if (at_ == power)
        return false;
    }
    out_ += text_.substr(begin, at_ - begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

} // namespace

std::optional<std::string> nested_json(std::string_view text) {
  if (text == "None")
    return "null";
  Reader reader(text);
  if (!reader.all())
    return std::nullopt;
  return reader.take();
}

} // namespace rankscope
