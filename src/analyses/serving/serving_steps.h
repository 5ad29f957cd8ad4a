// The steps of a server as their annotations tell them: which requests a step works for, and where
// it begins and ends on the CPU.
#pragma once

#include "core/loaded_trace.h"
#include "model/step_annotation.h"

#include <vector>

namespace rankscope {

struct ServerStep {
  EventId annotation = kNoEvent;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StepCounts counts;
};

/// By start. Where a trace has annotations with all sums, only those: patched servers write the
/// short form around the same step. Empty for a trace without any.
[[nodiscard]] std::vector<ServerStep> serving_steps(const Trace& trace);

} // namespace rankscope
