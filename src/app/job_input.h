// The job graph of a run, from its traces: one trace or the ranks, each parsed once, or from parts
// or cached facts. For `why` and `whatif`.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "analyses/job/causes.h"
#include "analyses/sweep/sweep_facts.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

struct JobInputRequest {
  std::vector<std::string> inputs; ///< a trace ("-": standard input), or folders and files of ranks
  DiscoverOptions discover;
  std::string gpu_arch;           ///< as report takes it
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
};

struct JobInput {
  std::string title; ///< the run, as the user named it
  JobRun run;
  /// Ranks and groups that the tests of `top` and `collectives` call slow or late.
  RunSuspects suspects;
  std::int64_t job_ranks = 0;      ///< of the job as its traces say; 0: unknown
  std::int64_t clock_error_ns = 0; ///< the largest residual of a rank's aligned clock, or of a
                                   ///< rank whose clock could not be aligned
};

/// Of these ranks, in the same order. `collectives`: theirs; may be null.
[[nodiscard]] JobInput job_of(std::string title, std::vector<RankGraph> graphs,
                              const std::vector<RankRecord>& records,
                              const std::vector<RankIdentity>& identities,
                              const CollectiveFacts* collectives);

/// What does not fit among the ranks is named. Errors: kUnreadable when no rank could be read or no
/// rank has GPU work.
[[nodiscard]] Result<JobInput> read_job_of(Session& session, const RunPlan& plan,
                                           std::uint64_t memory_bytes);
/// Of the run that is asked for. Errors: those and those of plan_top().
[[nodiscard]] Result<JobInput> read_job(Session& session, const JobInputRequest& request);

} // namespace rankscope
