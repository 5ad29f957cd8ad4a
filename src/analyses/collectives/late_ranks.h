// Ranks that start collectives later than the other members, by the steps of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/rank_excess.h"

#include <vector>

namespace rankscope {

/// The test result of one rank (base/rank_excess.h; the excess is microseconds per collective).
struct LateRank {
  const Straggler* rank = nullptr;
  RankExcess late;
};

struct LateRanks {
  std::vector<LateRank> ranks; ///< as in the facts; empty where no test is possible
  RankTest test;               ///< without its ranks
};
[[nodiscard]] LateRanks late_ranks(const CollectiveFacts& facts);

} // namespace rankscope
