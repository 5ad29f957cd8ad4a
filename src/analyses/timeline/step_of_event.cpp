#include "analyses/timeline/step_of_event.h"

namespace rankscope {

std::int64_t step_of_gpu_event(const LoadedTrace& t, const std::vector<ProfilerStep>& steps,
                               EventId event, const ReportOptions& options) {
  const bool linked = t.tree.linked(event);
  if (!linked && !options.include_unlinked_kernels)
    return -1;
  return step_at(steps, t.trace.events.ts_ns[linked ? t.tree.parent(event) : event]);
}

} // namespace rankscope
