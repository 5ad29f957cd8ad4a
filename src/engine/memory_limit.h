// The default memory limit for traces.
#pragma once

#include <cstdint>

namespace rankscope {

/// Returns the number of bytes for traces in flight: half of the machine's free memory.
[[nodiscard]] std::uint64_t default_memory_limit();

} // namespace rankscope
