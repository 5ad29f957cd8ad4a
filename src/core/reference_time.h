// Computes times as the reference tool does, for --compat: as doubles of microseconds since the
// origin of the trace. Near 10^12 us, doubles have a distance of 2^-12 us, so end - start of a
// kernel can differ from its duration by 2^-12 us (docs/reference/report-rules.md 1).
#pragma once

#include "base/interval_set.h"
#include "core/trace.h"

namespace rankscope {

/// Returns the double that is nearest to ns / 1000, as a parser returns it for the decimal text.
/// Example: 2241346141019800 gives the same double as the literal 2241346141019.8.
[[nodiscard]] double reference_us(std::int64_t ns);

/// Returns start and start + duration of an event as doubles; the sum is rounded too.
[[nodiscard]] inline UsInterval reference_interval(const Trace& trace, EventId event) {
  const double start = reference_us(trace.events.ts_ns[event]);
  return {start, start + reference_us(trace.events.dur_ns[event])};
}

} // namespace rankscope
