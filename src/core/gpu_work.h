// Whether a trace contains GPU work at all.
#pragma once

#include "core/trace.h"

#include <algorithm>

namespace rankscope {

[[nodiscard]] inline bool has_gpu_work(const Trace& trace) {
  return std::any_of(trace.events.category.begin(), trace.events.category.end(), is_gpu);
}

} // namespace rankscope
