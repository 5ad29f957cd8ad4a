// Counts the bytes that this process has read, for progress displays.
#pragma once

#include <cstdint>

namespace rankscope {

/// Returns the number of bytes that all sources of this process (os/byte_source.h) have read;
/// compressed files count with their compressed size.
[[nodiscard]] std::uint64_t source_bytes_read();

} // namespace rankscope
