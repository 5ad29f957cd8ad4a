// The use case behind `rankscope partial`: extracts the facts that commands over ranks need of each
// trace, and stores them where the trace is. The commands then read the facts (app/part_runs.h).
#pragma once

#include "app/part_file.h"
#include "base/result.h"
#include "engine/session.h"
#include "engine/shard_file.h"
#include "readers/discovery.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct PartialRequest {
  std::vector<std::string> inputs; ///< folders of rank traces, the files, or a sweep
  DiscoverOptions discover;
  /// This shard takes the i-th rank in discovery order, over all configurations, if i % count ==
  /// index.
  std::size_t shard_index = 0, shard_count = 1;
  /// The inputs contain only this shard's ranks (a folder of the node); the shard takes all of
  /// them.
  bool local = false;
  /// Number of ranks in the complete run, if the inputs do not contain them all. 0 = the number of
  /// ranks found, or the number that the traces name.
  std::size_t world_size = 0;
  PartOptions options;            ///< commands, and options that affect their data
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
  bool force = false;             ///< make existing parts again
  /// For a command over ranks: called with the facts of its parts, which replace inputs and
  /// options.
  std::function<void(const ShardFile&)> opened = {};
};

struct PartialResult {
  std::size_t ranks = 0;  ///< ranks of this shard
  std::size_t reused = 0; ///< ranks with parts that an earlier, equal run made
  std::size_t lost = 0;   ///< ranks that could not be read; their parts contain the reason
  std::uint64_t trace_bytes = 0, part_bytes = 0;
  std::string folder;
};

/// A rank of a shard, before its trace is read.
struct PlannedPart {
  std::string configuration;
  RankFile file;
  std::string part;      ///< name of the part file
  bool is_there = false; ///< an earlier run made the part from the same trace and options
};
/// Returns what write_partial() would do. Errors: those of write_partial(), except kOutput for the
/// folder itself.
Result<std::vector<PlannedPart>> plan_partial(Session& session, const PartialRequest& request,
                                              const std::string& folder);

/// Writes the parts of a shard to `folder`: a file for each rank, then the file of the shard.
/// Leaves existing files that match trace and options unchanged. Errors: kUsage, those of
/// discovery, kOutput; a lost rank is not an error.
Result<PartialResult> write_partial(Session& session, const PartialRequest& request,
                                    const std::string& folder);
/// Makes the files of write_partial() in memory and returns them, the shard's file last.
Result<std::vector<PartFile>> partial_in_memory(Session& session, const PartialRequest& request);

} // namespace rankscope
