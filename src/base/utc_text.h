// A unix time as people read it.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace rankscope {

/// "2026-01-31T10:04:30Z" of nanoseconds since 1970.
[[nodiscard]] inline std::string utc_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

} // namespace rankscope
