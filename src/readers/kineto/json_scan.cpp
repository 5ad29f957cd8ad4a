#include "readers/kineto/json_scan.h"

#include <charconv>
#include <cmath>

namespace rankscope::json {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

bool read_hex4(std::string_view raw, std::size_t at, unsigned& code) {
  if (at + 4 > raw.size())
    return false;
  code = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int h = hex_value(raw[at + i]);
    if (h < 0)
      return false;
    code = code * 16 + static_cast<unsigned>(h);
  }
  return true;
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

/// Implements us_text_to_ns() for numbers with an exponent. The decimal point is moved within the
/// digits, so no floating-point numbers are used.
bool scientific_us_to_ns(std::string_view text, std::int64_t& ns) {
  const std::size_t e = text.find_first_of("eE");
  std::string_view exponent_text = text.substr(e + 1);
  if (!exponent_text.empty() && exponent_text.front() == '+')
    exponent_text.remove_prefix(1);
  int exponent = 0;
  const auto [at, error] =
      std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  if (error != std::errc() || at != exponent_text.data() + exponent_text.size() ||
      exponent < -1000 || exponent > 1000)
    return false;
  std::string digits; // digits of the mantissa without the point
  int point = 0;      // digits before the decimal point
  bool fraction = false;
  for (const char c : text.substr(text.front() == '-' || text.front() == '+' ? 1 : 0)) {
    if (c == '.')
      fraction = true;
    else if (c < '0' || c > '9')
      break;
    else {
      digits += c;
      point += fraction ? 0 : 1;
    }
  }
  const int wanted = point + exponent + 3; // number of digits of the result in nanoseconds
  std::int64_t value = 0;
  for (int i = 0; i < wanted; ++i) {
    const int digit =
        i < static_cast<int>(digits.size()) ? digits[static_cast<std::size_t>(i)] - '0' : 0;
    if (value > 900'000'000'000'000'000)
      return false;
    if (value == 0 && i >= static_cast<int>(digits.size()))
      break; // zero with a large exponent, e.g. 0e99
    value = value * 10 + digit;
  }
  if (wanted >= 0 && wanted < static_cast<int>(digits.size()) &&
      digits[static_cast<std::size_t>(wanted)] >= '5')
    ++value;
  ns = text.front() == '-' ? -value : value;
  return true;
}

} // namespace

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    switch (c) {
    case 'n':
      out += '\n';
      break;
    case 't':
      out += '\t';
      break;
    case 'r':
      out += '\r';
      break;
    case 'b':
      out += '\b';
      break;
    case 'f':
      out += '\f';
      break;
    case '"':
    case '\\':
    case '/':
      out += c;
      break;
    case 'u': {
      unsigned code = 0;
      if (!read_hex4(raw, i + 1, code)) {
        out += "\\u";
        break;
      }
      i += 4;
      unsigned low = 0;
      if (code >= 0xd800 && code < 0xdc00 && i + 2 < raw.size() && raw[i + 1] == '\\' &&
          raw[i + 2] == 'u' && read_hex4(raw, i + 3, low) && low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      } else if (code >= 0xd800 && code < 0xe000) {
        code = 0xfffd; // half a surrogate pair has no UTF-8 form
      }
      append_utf8(out, code);
      break;
    }
    default:
      out += '\\';
      out += c;
    }
  }
  return out;
}

bool us_text_to_ns(std::string_view text, std::int64_t& ns) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p == end)
    return false;
  const bool negative = *p == '-';
  if (negative || *p == '+')
    ++p;
  std::uint64_t integer = 0;
  const char* const digits = p;
  while (p < end && *p >= '0' && *p <= '9') {
    if (p - digits >= 16)
      return false; // 10^16 us are 317 years
    integer = integer * 10 + static_cast<std::uint64_t>(*p++ - '0');
  }
  if (p == digits)
    return false;
  std::uint64_t fraction = 0;
  if (p < end && *p == '.') {
    ++p;
    std::uint64_t scale = 100;
    for (; p < end && *p >= '0' && *p <= '9'; ++p) {
      if (scale > 0) {
        fraction += static_cast<std::uint64_t>(*p - '0') * scale;
        scale /= 10;
        if (scale == 0 && p + 1 < end && p[1] >= '5' && p[1] <= '9')
          ++fraction;
      }
    }
  }
  if (p < end && (*p == 'e' || *p == 'E'))
    return scientific_us_to_ns(text, ns);
  if (p != end || integer > 9'000'000'000'000'000ULL)
    return false;
  ns = static_cast<std::int64_t>(integer * 1000 + fraction);
  if (negative)
    ns = -ns;
  return true;
}

bool text_to_int(std::string_view text, std::int64_t& value) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && at == text.data() + text.size())
    return true;
  double real = 0;
  const auto [at2, error2] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error2 != std::errc() || at2 != text.data() + text.size() || !(std::fabs(real) < 9e18) ||
      real != std::floor(real))
    return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

} // namespace rankscope::json
