// Communication that no other GPU work of its rank overlaps: how much of it is waiting for the last
// rank to arrive, and for which, and how much is transfer.
#pragma once

#include "analyses/job/counted_steps.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace rankscope {

/// In ms of a step, means over the ranks. Time that several collectives of a rank share counts
/// once.
struct ExposedTime {
  double wait_ms = 0;      ///< before the last member of a matched collective arrives
  double transfer_ms = 0;  ///< from then on
  double unmatched_ms = 0; ///< collectives without other members in the run: both are unknown
  /// Of wait_ms, for the rank that arrives last: (rank, ms), most first.
  std::vector<std::pair<std::int64_t, double>> wait_for;

  [[nodiscard]] double total_ms() const { return wait_ms + transfer_ms + unmatched_ms; }
};

/// Of the counted steps. O(n log n).
[[nodiscard]] ExposedTime exposed_time(const JobRun& run, const CountedSteps& clock);

} // namespace rankscope
