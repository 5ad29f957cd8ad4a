// The lower median of whole numbers: one of them, whatever their number.
#pragma once

#include "base/invariant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankscope {

/// `values` are reordered and not empty. Example: of 4 1 3 2 it is 2.
[[nodiscard]] inline std::int64_t lower_median(std::vector<std::int64_t>& values) {
  RS_ASSERT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace rankscope
