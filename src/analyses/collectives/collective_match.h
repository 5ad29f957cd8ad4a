// Which kernels of which ranks are one collective.
#pragma once

#include "analyses/collectives/collective_data.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// One collective on all the ranks that took part in it.
struct MatchedCollective {
  std::string pg;         ///< process group name, "Unknown_Group" when missing
  std::int64_t index = 0; ///< its place in the group, from 0 over all ranks
  CollectiveKind kind = CollectiveKind::kOther;
  /// (position in the list of ranks, row there), ascending by position.
  std::vector<std::pair<std::size_t, std::size_t>> members;
};

/// A shifted window (index 0) or a collective on which ranks disagree.
struct CollectiveProblem {
  std::string group;
  std::int64_t rank = 0;
  std::int64_t index = 0;
  std::string problem;
};

struct MatchResult {
  std::vector<MatchedCollective> collectives; ///< by group, then index
  std::vector<CollectiveProblem> problems;
};

/// Matches by process group and Seq; without Seq by order, after finding by sizes, types and times
/// how far each rank's window is shifted.
[[nodiscard]] MatchResult match_collectives(const std::vector<RankCollectives>& ranks);

} // namespace rankscope
