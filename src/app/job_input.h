// Reads the job graph of a run for `why` and `whatif`: from one trace or the traces of all ranks,
// each parsed once, from parts, or from cached facts.
#pragma once

#include "analyses/collectives/run_clock.h"
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
  std::string gpu_arch;           ///< same values as for report
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
};

struct JobInput {
  std::string title; ///< the run, as the user named it
  JobRun run;
  /// Ranks and groups that the tests of `top` and `collectives` call slow or late.
  RunSuspects suspects;
  std::int64_t job_ranks = 0; ///< number of ranks in the job according to its traces; 0: unknown
  /// The largest residual of a rank's clock, including clocks that could not be aligned; nullopt if
  /// a rank shares only sends and receives with the others.
  std::optional<std::int64_t> clock_error_ns = 0;
  RunClock clock; ///< times since the start of the run, as in its page
};

/// Returns the job of these ranks, in the same order. `collectives`: the collectives of the ranks;
/// may be null.
[[nodiscard]] JobInput job_of(std::string title, std::vector<RankGraph> graphs,
                              const std::vector<RankRecord>& records,
                              const std::vector<RankIdentity>& identities,
                              const CollectiveFacts* collectives);

/// Reads the job of a plan. The diagnostics name contradictions between the ranks. Errors:
/// kUnreadable if no rank could be read or no rank has GPU work.
[[nodiscard]] Result<JobInput> read_job_of(Session& session, const RunPlan& plan,
                                           std::uint64_t memory_bytes);
/// Finds the requested run and reads its job. Errors: those of read_job_of() and plan_top().
[[nodiscard]] Result<JobInput> read_job(Session& session, const JobInputRequest& request);

} // namespace rankscope
