// The use case behind rankscope-mpi: each process of a job reads its shard of the ranks, in memory
// or in a folder of parts; the first one runs the command from all results.
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
  /// A folder that all processes see. Parts are stored there instead of sent as messages, stay, and
  /// are reused when the job starts again. Each of several runs has a folder there. "" = none.
  std::string keep_parts;
  /// Bytes of parts that the first process buffers in memory.
  std::uint64_t gathered_in_memory = GatheredParts::kInMemory;
  /// Files travel together up to this.
  std::size_t message_bytes = std::size_t{16} << 20;
};

/// The results of all processes, in the first one; empty in the others.
struct JobShares {
  GatheredParts parts;
  std::size_t processes = 0;
  std::vector<std::pair<std::size_t, Error>> failed; ///< what was wrong with the share of each
  std::optional<Error> not_held;                     ///< parts arrived and could not be stored
};

/// Called by all processes of the job with the same request: each reads its shard and sends the
/// result to the first in pieces of some megabytes, one process after the other. A process sends
/// its error instead (no traces there, no memory for them). Errors: kUsage if a process has not
/// begun. After an exception the others wait in vain: the caller has to end the job.
Result<JobShares> gather_shares(Session& session, Link& link, const JobRequest& request);

/// Called by the first process: makes the shares, which outlive the session, its source. The
/// diagnostics name a process without a share (process_failed: data loss) and a rank that could not
/// be read; the rest is complete. Errors: those of PartRuns::add(); the first one's if no process
/// has a share.
Result<void> open_shares(Session& session, JobShares& shares, const JobRequest& request);

/// Checks that the launcher meant a job of one process. If srun does not support the program's MPI,
/// it starts several processes as jobs of one each, which would all write the same output. Errors:
/// kUsage.
Result<void> check_single(const EnvironmentLookup& lookup);

/// Called by a process that does not reach gather_shares() (its arguments are invalid): informs
/// those that may already be there.
void leave_job(Link& link);

} // namespace rankscope
