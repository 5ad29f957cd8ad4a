// Times as programs that sample GPUs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope {

/// Returns nanoseconds since 1970 of "2026/11/22 05:33:11.123" (also with '-' and 'T'; in this
/// machine's zone), or of a number of seconds, milliseconds, microseconds or nanoseconds,
/// recognized by its size ("1700000000.25"). Empty for anything else.
[[nodiscard]] std::optional<std::int64_t> sample_time_ns(std::string_view text);

} // namespace rankscope
