// Communication that no other GPU work of its rank overlaps, split into the wait for the last rank,
// with the ranks that are waited for, and the transfer.
#pragma once

#include "analyses/job/counted_steps.h"
#include "base/interval_set.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// The part of the waiting that other ranks wait for this rank, in ms per step, as a mean over the
/// ranks.
struct RankWait {
  std::int64_t rank = 0;
  double ms = 0;
  /// The part of `ms` that is not longer than the time by which this rank's recording begins later,
  /// in the first collective of each rank that waits. The trace does not show why.
  double start_ms = 0;
};

/// Times in ms per step, as means over the ranks. Time in which several collectives of a rank
/// overlap counts once.
struct ExposedTime {
  double wait_ms = 0;      ///< before the last member of a matched collective arrives
  double pair_wait_ms = 0; ///< part of wait_ms in sends and receives
  double transfer_ms = 0;  ///< after the last member arrives
  /// Collectives with a member that is not in the run, after the last known arrival: wait and
  /// transfer are unknown.
  double unmatched_ms = 0;
  std::vector<RankWait> wait_for; ///< the ranks that arrive last, most first

  [[nodiscard]] double total_ms() const { return wait_ms + transfer_ms + unmatched_ms; }
};

/// Returns by rank when GPU work other than collectives runs. O(n log n).
[[nodiscard]] std::vector<IntervalSet> other_gpu_work(const JobRun& run);

/// Returns the exposed time in the counted steps. O(n log n).
[[nodiscard]] ExposedTime exposed_time(const JobRun& run, const CountedSteps& clock);

} // namespace rankscope
