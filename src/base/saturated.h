// Adds counts from a file: if the sum overflows, it is the largest number instead.
#pragma once

#include <cstdint>

namespace rankscope {

inline void add_saturated(std::uint64_t& sum, std::uint64_t more) {
  sum = more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

} // namespace rankscope
