// The use case behind `rankscope why`: finds the causes of time in one trace or in the ranks of a
// run; each trace is parsed once.
#pragma once

#include "analyses/job/causes.h"
#include "app/job_input.h"
#include "base/result.h"
#include "engine/session.h"

namespace rankscope {

struct WhyRequest {
  JobInputRequest job;
  double floor_percent = 0.5;       ///< percentage of a step; smaller gains are not reported
  double step_time_ms = 0;          ///< for a step that is not recorded; 0: unknown
  std::string rule;                 ///< id of the only rule to check; empty: all
  std::optional<std::int64_t> rank; ///< look for causes of this rank only
  /// The numbers of the first and last step to count; unset: all steps count.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
};

/// Returns the causes of a job. `gpu_arch`: same values as for report. Errors: kUsage for an
/// unknown GPU.
Result<CauseFacts> causes_of_job(JobInput job, const std::string& gpu_arch,
                                 const CauseOptions& options = {});

struct WhyAnswer {
  CauseFacts facts;
  RunClock clock; ///< times since the start of the run
};

/// Errors: those of read_job(), kUsage for an unknown GPU, rule, rank or step.
Result<WhyAnswer> why_of(Session& session, const WhyRequest& request);

} // namespace rankscope
