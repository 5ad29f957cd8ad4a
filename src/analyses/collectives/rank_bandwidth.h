// Bandwidth by rank: whether the collectives that a rank took part in move their data slower or
// faster than those of the same kind and size without it (in groups of other nodes, over other
// links).
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/statistics.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A rank's collectives of a kind against those of the others.
struct RankBandwidth {
  std::size_t rank = 0; ///< position in the list of ranks
  std::size_t collectives = 0;
  double bus_gbps = 0;                      ///< mean over the collectives that it took part in
  double others_bus_gbps = 0;               ///< mean over those without it
  SampleStats by_step;                      ///< own - others, GB/s, a sample for each profiler step
  std::optional<MeanDifference> difference; ///< of them; empty with fewer than two such steps
  /// Returns whether the interval excludes 0. All intervals of bandwidth_by_rank() together have a
  /// confidence of 95 %.
  [[nodiscard]] bool told() const {
    return difference && std::fabs(difference->difference) > difference->half_width;
  }
};

/// Collectives of a name, type, size and number of ranks.
struct BandwidthClass {
  std::string name, dtype;
  std::int64_t in_nelems = kNoId, group_size = kNoId;
  double full_mib = 0;
  std::size_t collectives = 0;
  std::vector<RankBandwidth> ranks; ///< ascending; those that were not part of all of them
};

/// Returns the classes, most collectives first, without those in which every rank took part in all.
/// Collectives with unknown bandwidth (TimedCollective) do not count.
[[nodiscard]] std::vector<BandwidthClass> bandwidth_by_rank(const CollectiveFacts& facts);

} // namespace rankscope
