// Finds out which kinds of work a trace has.
#pragma once

#include "core/trace.h"

#include <algorithm>
#include <set>

namespace rankscope {

[[nodiscard]] inline bool has_gpu_work(const Trace& trace) {
  return std::any_of(trace.events.category.begin(), trace.events.category.end(), is_gpu);
}

[[nodiscard]] inline bool has_events(const Trace& trace, Category category) {
  const std::vector<Category>& all = trace.events.category;
  return std::find(all.begin(), all.end(), category) != all.end();
}

/// Returns the number of GPUs that run kernels, without those whose number is not recorded.
[[nodiscard]] inline std::size_t kernel_gpus(const Trace& trace) {
  std::set<std::int16_t> gpus;
  std::int16_t last = -1;
  for (std::size_t e = 0; e < trace.events.size(); ++e)
    if (trace.events.device[e] != last && trace.events.category[e] == Category::kKernel) {
      last = trace.events.device[e];
      if (last >= 0)
        gpus.insert(last);
    }
  return gpus.size();
}

} // namespace rankscope
