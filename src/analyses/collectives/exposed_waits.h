// The exposed time of collectives, split into the wait for the last member and the transfer.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <cstdint>

namespace rankscope {

/// Sums over the collective kernels of all ranks. A kernel's row contains how much of its time is
/// hidden, but not which part of it. Therefore the exposed wait is only known to be in an interval.
/// It is exact if a kernel is hidden completely or not at all.
struct ExposedWaits {
  std::int64_t exposed_ns = 0;
  /// Bounds of the part of exposed_ns before the last member starts.
  std::int64_t least_ns = 0, most_ns = 0;
  bool all_ranks = true; ///< false: traces of ranks of the job are missing

  /// Returns the bounds as fractions of the exposed time, 0 to 1. Without exposed time: 0 to 1.
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// Returns the exposed waits. All members leave a collective together, so each member waits for the
/// time by which its kernel lasts longer than the shortest one. A kernel of duration d, of which h
/// is hidden, with a wait of w, has an exposed wait between max(0, w - h) and min(w, d - h). The
/// bounds are 0 and d - h if the wait is unknown: members are missing, or the clocks are not
/// one_clock(). `job_ranks`: number of ranks in the job; 0: unknown.
[[nodiscard]] ExposedWaits exposed_waits(const CollectiveFacts& facts, std::int64_t job_ranks);

/// Returns whether the clocks of all ranks agree to within the scatter that is usual in a run, so
/// that the starts of ranks can be compared. True if no clocks were aligned.
[[nodiscard]] bool one_clock(const CollectiveFacts& facts);

} // namespace rankscope
