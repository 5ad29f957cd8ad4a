// The use case behind `rankscope whatif`: one trace, the ranks of a run, or the timeline of a
// pipeline-parallel job; with its stragglers, or with the changes that the user asks for.
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
  std::vector<RunEdit> changes; ///< none: stragglers
  /// Numbers of the first and last of the only steps that count.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
  std::string output; ///< of the last changed run, or of the one without stragglers; "": none
};

/// Errors: those of read_job(), read_pipeline_timeline() and whatif_of(); kOutput.
[[nodiscard]] Result<WhatIfFacts> whatif_of(Session& session, const WhatIfRequest& request);

} // namespace rankscope
