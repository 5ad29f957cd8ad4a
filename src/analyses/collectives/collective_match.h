// Matching of kernels on different ranks that belong to one collective.
#pragma once

#include "analyses/collectives/collective_data.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// One collective on all the ranks that took part in it.
struct MatchedCollective {
  std::string pg;             ///< process group name, "Unknown_Group" when missing
  std::size_t name_index = 0; ///< 0-based number among the groups with this name, sorted by their
                              ///< lists of ranks
  std::int64_t index = 0;     ///< index in the group, from 0, counted over all ranks
  CollectiveKind kind = CollectiveKind::kOther;
  std::int64_t expected = 0; ///< number of members; 0 = unknown
  bool all_read = false;     ///< no trace of the group is missing
  /// The rows as (position in the list of ranks, row of this rank), ascending by position.
  std::vector<std::pair<std::size_t, std::size_t>> members;

  /// Returns whether a member of the group is missing. In this case, values from the other members
  /// are not the bandwidth or the waits of the collective.
  [[nodiscard]] bool incomplete() const {
    return static_cast<std::int64_t>(members.size()) < expected;
  }
};

/// A rank with a shifted window (index 0), or a collective with different data on different ranks.
struct CollectiveProblem {
  std::string group;
  std::int64_t rank = 0;
  std::int64_t index = 0;
  std::string problem;
  /// True if the match may be wrong or ranks recorded different windows. Every result must report
  /// such a problem.
  bool partial = false;
};

struct MatchResult {
  std::vector<MatchedCollective> collectives; ///< by group, then index
  std::vector<CollectiveProblem> problems;
};

/// Matches kernels by process group (group_key()) and Seq. If Seq is missing or does not count the
/// group's collectives, matches them by order. (Seq does not count them if pairs by Seq disagree in
/// size and time, but pairs by order agree.) For the order, the candidates are the shifts between
/// two ranks with the most agreement in name, type and size. The match uses the shift with the
/// least scatter of ends over the complete sequence, because clocks differ by a constant, but
/// iterations differ in duration. If the scatter does not decide, it uses the shift nearest in
/// time. A shift or an ambiguous choice is reported as a `partial` problem.
[[nodiscard]] MatchResult match_collectives(const std::vector<RankCollectives>& ranks);

} // namespace rankscope
