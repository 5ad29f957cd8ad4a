// Waits until files that a test wrote can be identified (engine/fact_cache.h).
#pragma once

#include <chrono>
#include <thread>

namespace rankscope::test {

/// Waits until files that were just written are old enough to be distinguished from later versions.
inline void settle() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
}

} // namespace rankscope::test
