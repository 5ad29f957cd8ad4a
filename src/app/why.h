// The use case behind `rankscope why`: one trace or the ranks of a run, each parsed once, to the
// causes of their time.
#pragma once

#include "analyses/job/causes.h"
#include "app/job_input.h"
#include "base/result.h"
#include "engine/session.h"

namespace rankscope {

struct WhyRequest {
  JobInputRequest job;
  double floor_percent = 0.5;       ///< of a step: smaller gains are not reported
  double step_time_ms = 0;          ///< of a step that is not recorded; 0: unknown
  std::string rule;                 ///< id of the only rule that is looked for; empty: all
  std::optional<std::int64_t> rank; ///< whose causes are looked for
  /// Numbers of the first and last of the only steps that count.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
};

/// The causes of a job. `gpu_arch`: as report takes it. Errors: kUsage for an unknown GPU.
Result<CauseFacts> causes_of_job(JobInput job, const std::string& gpu_arch,
                                 const CauseLook& look = {});

/// Errors: those of read_job(), kUsage for an unknown GPU, rule, rank or step.
Result<CauseFacts> why_of(Session& session, const WhyRequest& request);

} // namespace rankscope
