// Use cases of `rankscope merge`: the ranks of a run as one trace for Perfetto.
#pragma once

#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"
#include "writers/merged_trace.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct MergeRequest {
  MergeOptions options;
  bool align = false;              ///< clocks also by the ends of collectives
  bool check = true;               ///< name what does not fit together among the ranks
  bool critical_path = false;      ///< as a track behind the ranks
  std::vector<std::int64_t> ranks; ///< only these; empty: all
  /// Tables of samples of GPUs (read_gpu_counters()), each a process with counter tracks.
  std::vector<std::string> samples;
};

/// The content of a merged trace.
struct MergedRun {
  std::string label, output;
  std::size_t ranks = 0; ///< with a slice
  std::uint64_t slices = 0, overflow = 0, flows = 0;
  std::uint64_t bytes = 0;       ///< JSON before compression
  std::uint64_t input_bytes = 0; ///< JSON read
  double seconds = 0;
};

/// Merges a run into one file, rank after rank, and names lost ranks. Errors: kUnreadable if no
/// rank is left, kOutput.
Result<MergedRun> merge_run(Session& ctx, const MergeRequest& request, const RunPlan& plan,
                            const std::string& output);

/// Merges every configuration of a sweep into a separate file in `folder` (empty: merged_traces
/// below the sweep), calls `merged` for each, and names those that fail. Errors: kUnreadable if all
/// fail, kOutput.
Result<void> merge_sweep(Session& ctx, const MergeRequest& request, const std::string& sweep,
                         const DiscoverOptions& discover, const std::string& folder,
                         const std::function<void(const MergedRun&)>& merged);

} // namespace rankscope
