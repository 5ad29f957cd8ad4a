// The use case behind `rankscope whatif`: replays one trace, the ranks of a run, or the timeline of
// a pipeline-parallel job. Computes the run without stragglers, or with the changes that the user
// requests.
#pragma once

#include "analyses/job/whatif.h"
#include "app/job_input.h"
#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct WhatIfRequest {
  JobInputRequest job;
  std::vector<RunEdit> changes; ///< empty: analyse stragglers
  /// The numbers of the first and last step to count; unset: all steps count.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
  std::string output; ///< path for the last changed run, or the run without stragglers; "": none
};

/// Errors: those of read_job(), read_pipeline_timeline() and whatif_of(); kOutput.
[[nodiscard]] Result<WhatIfFacts> whatif_of(Session& session, const WhatIfRequest& request);

} // namespace rankscope
