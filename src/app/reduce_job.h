// The use case behind rankscope-mpi: each process of a job takes its share of the ranks, in memory
// or in a folder of parts; the first one runs the command from what all have found.
#pragma once

#include "app/gathered_parts.h"
#include "app/part_runs.h"
#include "app/partial.h"
#include "base/result.h"
#include "engine/session.h"
#include "os/exchange.h"
#include "os/shard.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

struct JobRequest {
  /// Of each run (compare: the baseline's first). Their shard is the process's place in the job. A
  /// saved baseline as the one input is read by the first alone.
  std::vector<PartialRequest> runs;
  /// A folder that all processes see: parts lie there in place of messages, stay, and are taken as
  /// they are by a job that is begun again. Of several runs each has a folder there. "" = none.
  std::string keep_parts;
  /// Bytes of parts that the first process holds in memory.
  std::uint64_t gathered_in_memory = GatheredParts::kInMemory;
  /// Files travel together up to this.
  std::size_t message_bytes = std::size_t{16} << 20;
};

/// What the first process has of all; the others have nothing.
struct JobShares {
  GatheredParts parts;
  std::size_t processes = 0;
  std::vector<std::pair<std::size_t, Error>> failed; ///< what was wrong with the share of each
  std::optional<Error> not_held;                     ///< parts came and could not be put anywhere
};

/// Called by all processes of the job with the same request: each takes its share and hands it to
/// the first in pieces of some megabytes, one process after the other. What is wrong with a share
/// (no traces there, no memory for them) is told with it. Errors: kUsage when a process has not
/// begun. An exception means that the others wait in vain: the job is to be ended.
Result<JobShares> gather_shares(Session& session, Link& link, const JobRequest& request);

/// Makes the shares, which outlive it, the source of the session, by the first. A process that has
/// none is named in the diagnostics (process_failed: data loss), and the rest is complete; so is a
/// rank that could not be read. Errors: those of PartRuns::add(); the first one's when no process
/// has a share.
Result<void> open_shares(Session& session, JobShares& shares, const JobRequest& request);

/// Whether a job of one process is what its launcher meant: srun begins several processes of a
/// program whose MPI it does not serve as jobs of one each, which would all write the same output.
/// Errors: kUsage.
Result<void> check_single(const EnvironmentLookup& lookup);

/// A process that does not come to gather_shares() (its arguments are no good) says so to those
/// that may be there already.
void leave_job(Link& link);

} // namespace rankscope
