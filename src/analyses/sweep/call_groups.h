// Calls of a rank as evidence for causes: how long the calls of an operator with its arguments
// take, and how much of each call a collective overlapped. Sums over blocks of steps: their size
// does not depend on the number of calls, and they are enough for the regressions of slowdown.h.
#pragma once

#include "analyses/analysis.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// Calls of consecutive steps.
struct CallBlock {
  std::int64_t calls = 0;
  double us = 0;          ///< sum of durations (union of a call's kernels)
  double share = 0;       ///< sum of the shares of them, 0 to 1, that collectives overlap
  double share_share = 0; ///< ... squared
  double share_us = 0;    ///< ... times the duration
  std::int64_t alone = 0; ///< calls that no collective touches
  double alone_us = 0;    ///< sum of their durations
};

/// The calls of one operator with one set of arguments.
struct CallGroup {
  std::uint64_t key = 0; ///< of operator and arguments; equal in every trace
  bool gemm = false;
  std::vector<CallBlock> blocks; ///< by step; the same steps for all groups of a rank
};

/// The most blocks, and the most groups of GEMMs and of others, that are stored per rank.
inline constexpr std::size_t kCallBlocks = 8;
inline constexpr std::size_t kCallGroups = 12;

/// The groups with most time, GEMMs first. Calls outside of profiler steps and calls without
/// recorded shapes are left out: their durations cannot be compared.
[[nodiscard]] std::vector<CallGroup> call_groups(const LoadedTrace& trace,
                                                 const ReportOptions& options);

} // namespace rankscope
