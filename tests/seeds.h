// The number of generated runs of a statistical test.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace rankscope::test {

/// Returns RANKSCOPE_SEEDS if it is set, else `usual`.
inline int seeds(int usual) {
  const char* const text = std::getenv("RANKSCOPE_SEEDS");
  return text != nullptr ? std::max(1, std::atoi(text)) : usual;
}

} // namespace rankscope::test
