// Times added in the same way as in the reference tool, for --compat: doubles of microseconds since
// the trace's origin. At 10^12 us a double has steps of 2^-12 us, so the length of a kernel differs
// from its duration by up to one step (docs/reference/report-rules.md 1).
#pragma once

#include "base/interval_set.h"
#include "core/trace.h"

namespace rankscope {

/// Returns the double nearest to ns / 1000 us, as a parser makes it from the decimal text. Example:
/// 2241346141019800 gives 2241346141019.8 as written in a source.
[[nodiscard]] double reference_us(std::int64_t ns);

/// Returns start and start + duration of an event as doubles; the sum is rounded once more.
[[nodiscard]] inline UsInterval reference_interval(const Trace& trace, EventId event) {
  const double start = reference_us(trace.events.ts_ns[event]);
  return {start, start + reference_us(trace.events.dur_ns[event])};
}

} // namespace rankscope
