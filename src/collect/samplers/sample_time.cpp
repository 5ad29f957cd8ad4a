#include "collect/samplers/sample_time.h"

#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace rankscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLatest = INT64_MAX / 4; ///< in the year 2043: sums of times do not overflow

/// Returns the digits after a decimal point as parts of `unit_ns`; 0 without any. Digits beyond
/// nanoseconds are cut off.
std::optional<std::int64_t> fraction_ns(std::string_view digits, std::int64_t unit_ns) {
  std::int64_t out = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9')
      return std::nullopt;
    unit_ns /= 10;
    out += (c - '0') * unit_ns;
  }
  return out;
}

std::optional<std::int64_t> counted(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto number = to_number(text.substr(0, point));
  if (!number || *number < 0)
    return std::nullopt;
  // below kMost the number is in seconds (up to the year 5138); larger numbers are in smaller units
  constexpr std::int64_t kMost = 100'000'000'000;
  const std::int64_t unit_ns = *number < kMost               ? kSecond
                               : *number < kMost * 1000      ? kSecond / 1000
                               : *number < kMost * 1'000'000 ? 1000
                                                             : 1;
  if (*number > kLatest / unit_ns)
    return std::nullopt;
  const auto rest = fraction_ns(text.substr(std::min(point + 1, text.size())), unit_ns);
  return rest ? std::optional(*number * unit_ns + *rest) : std::nullopt;
}

} // namespace

std::optional<std::int64_t> sample_time_ns(std::string_view text) {
  constexpr std::size_t kLength = 19; // "2026/11/22 05:33:11"
  if (text.size() < kLength || (text[4] != '/' && text[4] != '-'))
    return counted(text);
  if (text[7] != text[4] || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' ||
      text[16] != ':' || (text.size() > kLength && text[kLength] != '.'))
    return std::nullopt;
  std::array<int, 6> parts{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kPlaces = {
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = to_number<int>(text.substr(kPlaces[i].first, kPlaces[i].second));
    if (!number || *number < 0)
      return std::nullopt;
    parts[i] = *number;
  }
  if (parts[0] < 1970 || parts[1] < 1 || parts[1] > 12 || parts[2] < 1 || parts[2] > 31 ||
      parts[3] > 23 || parts[4] > 59 || parts[5] > 60)
    return std::nullopt;
  const auto rest = fraction_ns(text.substr(std::min(kLength + 1, text.size())), kSecond);
  std::tm local{};
  local.tm_year = parts[0] - 1900;
  local.tm_mon = parts[1] - 1;
  local.tm_mday = parts[2];
  local.tm_hour = parts[3];
  local.tm_min = parts[4];
  local.tm_sec = parts[5];
  local.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&local);
  if (!rest || seconds == static_cast<std::time_t>(-1) || seconds > kLatest / kSecond)
    return std::nullopt;
  return static_cast<std::int64_t>(seconds) * kSecond + *rest;
}

} // namespace rankscope
