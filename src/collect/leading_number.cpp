#include "collect/leading_number.h"

#include <charconv>
#include <cmath>
#include <string>

namespace rankscope {
namespace {

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_decimal_digit(text[end]))
    ++end;
  return end - at;
}

/// Returns the length in bytes of "1,234,567" at `begin`; 0 when there are no groups of thousands.
std::size_t grouped_digits(std::string_view text, std::size_t begin) {
  constexpr std::size_t kGroup = 3;
  const std::size_t first = digits_at(text, begin);
  if (first == 0 || first > kGroup)
    return 0;
  std::size_t end = begin + first;
  while (end < text.size() && text[end] == ',' && digits_at(text, end + 1) == kGroup)
    end += 1 + kGroup;
  return end == begin + first ? 0 : end - begin;
}

} // namespace

std::optional<LeadingNumber> leading_number(std::string_view text) {
  const std::size_t plus = text.starts_with('+') ? 1 : 0;
  const std::size_t begin = plus + (text.substr(plus).starts_with('-') ? 1 : 0);
  const std::size_t grouped = grouped_digits(text, begin);
  std::string digits(text.substr(plus, begin - plus + grouped));
  std::erase(digits, ',');
  const std::size_t separators = begin - plus + grouped - digits.size();
  digits += text.substr(begin + grouped);
  LeadingNumber out;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), out.value);
  if (ec != std::errc() || !std::isfinite(out.value))
    return std::nullopt;
  out.length = plus + separators + static_cast<std::size_t>(end - digits.data());
  return out;
}

} // namespace rankscope
