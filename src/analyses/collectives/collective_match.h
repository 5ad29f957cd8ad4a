// Matching of kernels on different ranks that are one collective.
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
  std::size_t twin = 0;   ///< number among the groups of this name, by their lists of ranks
  std::int64_t index = 0; ///< index in the group, from 0, counted over all ranks
  CollectiveKind kind = CollectiveKind::kOther;
  std::int64_t expected = 0; ///< number of members of the group; 0 = unknown
  /// The rows as (position in the list of ranks, row there), ascending by position.
  std::vector<std::pair<std::size_t, std::size_t>> members;

  /// Returns whether a member of the group is missing. Values over the other members are then not
  /// the bandwidth or the waits of the collective.
  [[nodiscard]] bool incomplete() const {
    return static_cast<std::int64_t>(members.size()) < expected;
  }
};

/// A shifted window (index 0) or a collective on which ranks disagree.
struct CollectiveProblem {
  std::string group;
  std::int64_t rank = 0;
  std::int64_t index = 0;
  std::string problem;
  /// True if the match may be wrong or ranks recorded different windows. Every result must report
  /// this.
  bool partial = false;
};

struct MatchResult {
  std::vector<MatchedCollective> collectives; ///< by group, then index
  std::vector<CollectiveProblem> problems;
};

/// Matches by process group and Seq. Matches by order if Seq is missing or does not count the
/// group's collectives (pairs by Seq disagree in size and time, pairs by order agree). The
/// candidates are the shifts with the most agreement in name, type and size. The match uses the
/// shift whose ends scatter least over the complete sequence (clocks differ by a constant,
/// iterations do not), then the shift nearest in time. A shift or an ambiguous choice is a
/// `partial` problem.
[[nodiscard]] MatchResult match_collectives(const std::vector<RankCollectives>& ranks);

} // namespace rankscope
