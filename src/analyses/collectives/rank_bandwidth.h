// Bandwidth by rank: compares the collectives of a rank with collectives of the same kind and size
// in which the rank does not take part (in groups of other nodes, over other links).
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/statistics.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The collectives of one class with a rank, compared with those without this rank.
struct RankBandwidth {
  std::size_t rank = 0; ///< position in the list of ranks
  std::size_t collectives = 0;
  double bus_gbps = 0;                      ///< mean over the collectives with this rank
  double others_bus_gbps = 0;               ///< mean over the collectives without this rank
  SampleStats by_step;                      ///< mean with - mean without this rank, GB/s; one
                                            ///< sample per profiler step
  std::optional<MeanDifference> difference; ///< mean of by_step; empty with fewer than two samples
  /// Returns whether the interval excludes 0. All intervals of bandwidth_by_rank() together have a
  /// confidence of 95 %.
  [[nodiscard]] bool significant() const {
    return difference && std::fabs(difference->difference) > difference->half_width;
  }
};

/// The collectives of one name, type, size and number of ranks.
struct BandwidthClass {
  std::string name, dtype;
  std::int64_t in_nelems = kNoId, group_size = kNoId;
  double full_mib = 0;
  std::size_t collectives = 0;
  std::vector<RankBandwidth> ranks; ///< ascending by rank; ranks that took part in all are left out
};

/// Returns the classes, most collectives first. Classes in which every rank took part in all
/// collectives are left out. Collectives with unknown bandwidth (TimedCollective) do not count.
[[nodiscard]] std::vector<BandwidthClass> bandwidth_by_rank(const CollectiveFacts& facts);

} // namespace rankscope
