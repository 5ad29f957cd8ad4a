// The lower median of integers: always one of the values, also if the number of values is even.
#pragma once

#include "base/invariant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankscope {

/// Returns the lower median and reorders `values`, which are not empty. Example: 4 1 3 2 gives 2.
[[nodiscard]] inline std::int64_t lower_median(std::vector<std::int64_t>& values) {
  RS_ASSERT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace rankscope
