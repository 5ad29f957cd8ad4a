// The use case behind rankscope-mpi: each process of a job reads its shard of the ranks and stores
// the results in memory or in a folder of parts. The first process runs the command from all
// results.
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
  /// One request per run (compare: the baseline's first). The shard of a process is its index in
  /// the job. If the only input is a saved baseline, only the first process reads it.
  std::vector<PartialRequest> runs;
  /// A folder that all processes can access; "" = none. Parts are stored there instead of sent as
  /// messages. They stay, and are reused when the job starts again. Each of several runs has a
  /// separate subfolder.
  std::string keep_parts;
  /// Bytes of parts that the first process buffers in memory.
  std::uint64_t gathered_in_memory = GatheredParts::kInMemory;
  /// Files are sent together in messages of up to this size.
  std::size_t message_bytes = std::size_t{16} << 20;
};

/// The results of all processes, in the first process; empty in the others.
struct JobShares {
  GatheredParts parts;
  std::size_t processes = 0;
  std::vector<std::pair<std::size_t, Error>> failed; ///< the error of each process that failed
  std::optional<Error> store_error;                  ///< parts arrived but could not be stored
};

/// Called by all processes of the job with the same request. Each process reads its shard and sends
/// the result to the first process in messages of some megabytes, one process after the other. A
/// process that fails (no traces there, no memory for them) sends its error instead. Errors: kUsage
/// if a process has not begun. After an exception the other processes wait forever: the caller has
/// to end the job.
Result<JobShares> gather_shares(Session& session, Link& link, const JobRequest& request);

/// Called by the first process. Sets the results as the session's source; they must outlive the
/// session. The diagnostics name a process without a result (process_failed: data loss) and a rank
/// that could not be read. All other data are complete. Errors: those of PartRuns::add(); the error
/// of the first failed process if no process has a result.
Result<void> open_shares(Session& session, JobShares& shares, const JobRequest& request);

/// Checks that the launcher started only one process. If srun does not support the program's MPI,
/// it starts several jobs of one process each, which would all write the same output. Errors:
/// kUsage.
Result<void> check_single(const EnvironmentLookup& lookup);

/// Called by a process that does not reach gather_shares(), for example because its arguments are
/// invalid. Informs the processes that may already be waiting.
void leave_job(Link& link);

} // namespace rankscope
