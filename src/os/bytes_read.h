// How much a process has read, for those who show progress.
#pragma once

#include <cstdint>

namespace rankscope {

/// Bytes of files that all sources of this process (os/byte_source.h) have read, before
/// decompression.
[[nodiscard]] std::uint64_t source_bytes_read();

} // namespace rankscope
