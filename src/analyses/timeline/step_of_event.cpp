#include "analyses/timeline/step_of_event.h"

namespace rankscope {

std::int64_t step_of_gpu_event(const LoadedTrace& t, const std::vector<ProfilerStep>& steps,
                               EventId event, bool unlinked) {
  const bool linked = t.tree.linked(event);
  if (!linked && !unlinked)
    return -1;
  return step_at(steps, t.trace.events.ts_ns[linked ? t.tree.parent(event) : event]);
}

std::set<std::int64_t> step_numbers(const std::vector<ProfilerStep>& steps) {
  std::set<std::int64_t> out;
  for (const ProfilerStep& step : steps)
    out.insert(step.number);
  return out;
}

} // namespace rankscope
