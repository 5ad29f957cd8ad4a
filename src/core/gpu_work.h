// Checks whether a trace has events of some kind.
#pragma once

#include "core/trace.h"

#include <algorithm>

namespace rankscope {

[[nodiscard]] inline bool has_gpu_work(const Trace& trace) {
  return std::any_of(trace.events.category.begin(), trace.events.category.end(), is_gpu);
}

[[nodiscard]] inline bool has_events(const Trace& trace, Category category) {
  const std::vector<Category>& all = trace.events.category;
  return std::find(all.begin(), all.end(), category) != all.end();
}

} // namespace rankscope
