// The use case behind `rankscope partial`: what commands over ranks take of each trace, stored
// where the trace is. The commands then take it from there (app/part_runs.h).
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
  /// This shard takes the i-th rank that discovery finds, over all configurations in order, if
  /// i % count == index.
  std::size_t shard_index = 0, shard_count = 1;
  /// The inputs contain this shard's ranks only (a folder of the node): all of them are taken.
  bool local = false;
  /// Number of ranks in the complete run, if the inputs do not contain them all; 0 = as many as
  /// there are or as the traces say.
  std::size_t world_size = 0;
  PartOptions options;            ///< the commands, and options that affect their data
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
  bool force = false;             ///< make existing parts again
  /// For a command over ranks: called with the facts of its parts instead of inputs and options.
  std::function<void(const ShardFile&)> opened = {};
};

struct PartialResult {
  std::size_t ranks = 0;  ///< of this shard
  std::size_t reused = 0; ///< of them, made by an earlier run of the same traces and options
  std::size_t lost = 0;   ///< could not be read; their parts say why
  std::uint64_t trace_bytes = 0, part_bytes = 0;
  std::string folder;
};

/// A rank of a shard before anything is read.
struct PlannedPart {
  std::string configuration;
  RankFile file;
  std::string part;      ///< name of its file
  bool is_there = false; ///< made by an earlier run of the same trace and options
};
/// Returns what write_partial() would do. Errors: the same, except kOutput for the folder itself.
Result<std::vector<PlannedPart>> plan_partial(Session& session, const PartialRequest& request,
                                              const std::string& folder);

/// Writes the parts of a shard to `folder`: a file for each rank, then the file of the shard. Ranks
/// with an existing file that fits trace and options are left as they are. Errors: kUsage, those of
/// discovery, kOutput; a lost rank is not an error.
Result<PartialResult> write_partial(Session& session, const PartialRequest& request,
                                    const std::string& folder);
/// The same files in memory, the shard's last.
Result<std::vector<PartFile>> partial_in_memory(Session& session, const PartialRequest& request);

} // namespace rankscope
