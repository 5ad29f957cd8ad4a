// Use cases of `rankscope merge`: merge the ranks of a run into one trace for Perfetto.
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
  bool align = false;              ///< align clocks also by the ends of collectives
  bool check = true;               ///< name contradictions between the ranks
  bool critical_path = false;      ///< add the critical path as a track after the ranks
  std::vector<std::int64_t> ranks; ///< only these ranks; empty: all
  /// Tables of GPU samples (read_gpu_counters()); each becomes a process with counter tracks.
  std::vector<std::string> samples;
};

/// Facts about a merged trace.
struct MergedRun {
  std::string label, output;
  std::size_t ranks = 0; ///< ranks with at least one slice
  std::uint64_t slices = 0, overflow = 0, flows = 0;
  std::uint64_t bytes = 0;       ///< JSON before compression
  std::uint64_t input_bytes = 0; ///< JSON read
  double seconds = 0;
};

/// Merges a run into one file, one rank after another, and names lost ranks. Errors: kUnreadable if
/// no rank remains, kOutput.
Result<MergedRun> merge_run(Session& ctx, const MergeRequest& request, const RunPlan& plan,
                            const std::string& output);

/// Merges every configuration of a sweep into a separate file in `folder` (empty: merged_traces
/// below the sweep), calls `merged` for each, and names configurations that fail. Errors:
/// kUnreadable if all fail, kOutput.
Result<void> merge_sweep(Session& ctx, const MergeRequest& request, const std::string& sweep,
                         const DiscoverOptions& discover, const std::string& folder,
                         const std::function<void(const MergedRun&)>& merged);

} // namespace rankscope
