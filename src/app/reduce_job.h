// The use case behind rankscope-mpi: each process of a job takes its share of the ranks, in memory
// or in a folder of parts; the first one reduces what all have found.
#pragma once

#include "app/partial.h"
#include "base/result.h"
#include "engine/session.h"
#include "os/exchange.h"
#include "os/shard.h"

#include <string>
#include <vector>

namespace rankscope {

struct JobRequest {
  /// Of each run (compare: the baseline's first). Their shard is the process's place in the job.
  std::vector<PartialRequest> runs;
  ReduceRequest reduce; ///< without runs and files
  /// A folder that all processes see: parts lie there in place of messages, stay, and are taken as
  /// they are by a job that is begun again. Of several runs each has a folder there. "" = none.
  std::string keep_parts;
};

/// Called by all processes of the job with the same request: each takes its share and hands it to
/// the first, which gets one message from each; the others get none. What is wrong with a share
/// (no traces there, no memory for them) is in its message. Errors: kUsage when a process has not
/// begun. An exception means that the others wait in vain: the job is to be ended.
Result<std::vector<std::string>> gather_shares(Session& session, Link& link,
                                               const JobRequest& request);

/// reduce_parts() of the shares, by the first. A process that has none is named in the diagnostics
/// (process_failed: data loss), and the rest is complete; so is a rank that could not be read.
/// Errors: those of reduce_parts(); the first one's when no process has a share.
Result<ReduceResult> reduce_shares(Session& session, std::vector<std::string> messages,
                                   const JobRequest& request);

/// Whether a job of one process is what its launcher meant: srun begins several processes of a
/// program whose MPI it does not serve as jobs of one each, which would all write the same output.
/// Errors: kUsage.
Result<void> check_single(const EnvironmentLookup& lookup);

/// A process that does not come to gather_shares() (its arguments are no good) says so to those
/// that may be there already.
void leave_job(Link& link);

} // namespace rankscope
