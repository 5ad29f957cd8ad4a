#include "app/unlinked_note.h"

#include "analyses/timeline/gpu_timeline.h"
#include "base/counters.h"
#include "base/units.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

double total_ms(const LoadedTrace& trace, ReportOptions options, bool unlinked) {
  options.include_unlinked_kernels = unlinked;
  options.detect_recompute = false; // with recompute detection there is no combined total
  for (const TimelineRow& row : trace.shared(TimelineKey{options}))
    if (row.kind == TimeKind::kTotal)
      return ns_to_ms(row.time_ns);
  return 0;
}

} // namespace

void note_unlinked(const LoadedTrace& trace, const ReportOptions& options,
                   Diagnostics& diagnostics) {
  const std::size_t all = trace.tree.gpu_event_count();
  const std::size_t linked = trace.tree.linked_count();
  if (linked == all)
    return;
  const double with = total_ms(trace, options, true);
  const double without = total_ms(trace, options, false);
  diagnostics.add(options.include_unlinked_kernels
                      ? counters::unlinked_gpu_events(all - linked, all, with, without)
                      : counters::unlinked_left_out(all - linked, all, without, with),
                  trace.trace.path);
}

} // namespace rankscope
