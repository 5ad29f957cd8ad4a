#include "base/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace rankscope {

std::string python_float(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char buffer[40];
  const char* const end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const char* const e = std::find<const char*>(buffer, end, 'e'); // finds the exponent in d.ddde+xx
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent); // std::from_chars rejects a plus sign
  if (exponent < -4 || exponent >= 16)
    return std::string(buffer, static_cast<std::size_t>(end - buffer));
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string out(buffer, fixed);
  if (out.find('.') == std::string::npos)
    out += ".0";
  return out;
}

std::string fixed_text(double value, int decimals, Plus plus) {
  std::string out = fmt::format("{:+.{}f}", value, decimals);
  const bool zero = out.find_first_of("123456789") == std::string::npos;
  if (zero || (out.front() == '+' && plus == Plus::kOmitted))
    out.erase(0, 1);
  return out;
}

double round_decimals(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value); // glibc rounds the exact binary
                                                               // value
  return std::strtod(buffer, nullptr);
}

std::string ranges_text(std::span<const std::int64_t> numbers, std::size_t most) {
  std::string out;
  std::size_t pieces = 0;
  const auto piece = [&](std::int64_t first, std::int64_t last) {
    if (pieces++ == most)
      out += ", ...";
    if (pieces > most)
      return;
    out += pieces > 1 ? ", " : "";
    out += std::to_string(first);
    if (last == first + 1)
      out += ", " + std::to_string(last);
    else if (last > first)
      out += "-" + std::to_string(last);
  };
  for (std::size_t i = 0; i < numbers.size() && pieces <= most;) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j] < INT64_MAX && numbers[j + 1] == numbers[j] + 1)
      ++j;
    piece(numbers[i], numbers[j]);
    i = j + 1;
  }
  return out;
}

std::string counted(std::size_t n, std::string_view singular, std::string_view plural) {
  return std::to_string(n) + ' ' + std::string(n == 1 ? singular : plural);
}

} // namespace rankscope
