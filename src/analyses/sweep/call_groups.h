// Calls of a rank as evidence for causes: the durations of an operator's calls with the same
// arguments, and the share of each call that a collective overlapped. Stored as sums over blocks of
// steps: their size does not depend on the number of calls, and they are enough for the regressions
// of slowdown.h.
#pragma once

#include "analyses/analysis.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// Sums over the calls of consecutive steps. A duration is the union of a call's kernels, and the
/// speed of a call is 1 divided by its duration in us.
struct CallBlock {
  std::int64_t calls = 0;
  double us = 0;          ///< sum of durations
  double share = 0;       ///< sum of the calls' shares (0 to 1) that collectives overlap
  double share_share = 0; ///< sum of the squared shares
  double speed = 0;
  double share_speed = 0; ///< sum of share times speed
  std::int64_t alone = 0; ///< calls without an overlapping collective
  double alone_us = 0;    ///< sum of the durations of these calls
  double alone_speed = 0;

  /// Adds a call. `overlapped`: the share of its duration that collectives overlap. A call without
  /// a duration does not count.
  void add(double duration_us, double overlapped);
};

/// The calls of one operator with one set of arguments.
struct CallGroup {
  std::uint64_t key = 0; ///< hash of operator and arguments; equal in every trace
  bool gemm = false;
  /// In step order; the steps of a block are equal for all groups of a rank.
  std::vector<CallBlock> blocks;
};

/// Maximum numbers per rank: blocks per group, groups of GEMMs, and groups of other calls.
inline constexpr std::size_t kCallBlocks = 8;
inline constexpr std::size_t kCallGroups = 12;

/// Returns the groups with the most time, GEMMs first. Calls outside of profiler steps and calls
/// without recorded shapes are left out, because their durations cannot be compared.
[[nodiscard]] std::vector<CallGroup> call_groups(const LoadedTrace& trace,
                                                 const ReportOptions& options);

} // namespace rankscope
