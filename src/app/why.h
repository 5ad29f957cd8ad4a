// The use case behind `rankscope why`: one trace or the ranks of a run, each parsed once, to the
// causes of their time.
#pragma once

#include "analyses/job/causes.h"
#include "app/top.h"
#include "base/result.h"
#include "engine/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct WhyRequest {
  std::vector<std::string> inputs; ///< a trace ("-": standard input), or folders and files of ranks
  DiscoverOptions discover;
  std::string gpu_arch;           ///< as report takes it
  double floor_percent = 0.5;     ///< of a step: smaller gains are not reported
  double step_time_ms = 0;        ///< of a step that is not recorded; 0: unknown
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
};

/// Errors: those of plan_top(), kUnreadable when no rank could be read or no rank has GPU work.
Result<CauseFacts> why_of(Session& session, const WhyRequest& request);

} // namespace rankscope
