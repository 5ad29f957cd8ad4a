// Formats times for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace rankscope {

/// Formats a time with strftime; the result has at most 63 bytes.
[[nodiscard]] inline std::string time_text(const std::tm& parts, const char* format) {
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

[[nodiscard]] inline std::string local_text(std::chrono::system_clock::time_point time,
                                            const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  return time_text(*::localtime_r(&seconds, &parts), format);
}

/// Returns "2026-01-31T10:04:30Z" for nanoseconds since 1970.
[[nodiscard]] inline std::string utc_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  return time_text(*::gmtime_r(&seconds, &parts), "%Y-%m-%dT%H:%M:%SZ");
}

[[nodiscard]] inline std::string utc_text(std::chrono::system_clock::time_point time) {
  return utc_text(time.time_since_epoch() / std::chrono::nanoseconds(1));
}

} // namespace rankscope
