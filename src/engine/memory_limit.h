// How much memory traces may take where nobody says.
#pragma once

#include <cstdint>

namespace rankscope {

/// Bytes for traces in flight: half of what the machine has free.
[[nodiscard]] std::uint64_t default_memory_limit();

} // namespace rankscope
