// Ranks that start collectives later than the other members, tested over the steps of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/rank_excess.h"

#include <vector>

namespace rankscope {

/// The test result of one rank (base/rank_excess.h; the excess is in microseconds per collective).
struct LateRank {
  const Straggler* rank = nullptr;
  RankExcess late;
};

struct LateRanks {
  std::vector<LateRank> ranks; ///< in the order of the facts; empty if no test is possible
  RankTest test;               ///< properties of the test; its own list of ranks is empty
};
[[nodiscard]] LateRanks late_ranks(const CollectiveFacts& facts);

} // namespace rankscope
