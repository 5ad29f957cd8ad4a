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
  std::size_t twin = 0;   ///< number of the group among those of its name, by their lists of ranks
  std::int64_t index = 0; ///< its place in the group, from 0 over all ranks
  CollectiveKind kind = CollectiveKind::kOther;
  std::int64_t expected = 0; ///< members that the group has, 0 = not known
  /// (position in the list of ranks, row there), ascending by position.
  std::vector<std::pair<std::size_t, std::size_t>> members;

  /// Returns whether a member of the group is missing: then values over the other members are not
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
  /// The match may be wrong, or ranks recorded different windows: every result must say so.
  bool partial = false;
};

struct MatchResult {
  std::vector<MatchedCollective> collectives; ///< by group, then index
  std::vector<CollectiveProblem> problems;
};

/// Matches by process group and Seq. Matches by order where Seq is missing or does not count the
/// group's collectives (its pairs disagree in size and in time where the order agrees). It takes
/// the shifts with the most agreement in name, type and size. Among them it chooses the one whose
/// ends scatter least over the complete sequence (clocks differ by a constant, iterations do not),
/// then the one nearest in time. A shift or an ambiguous choice is a `partial` problem.
[[nodiscard]] MatchResult match_collectives(const std::vector<RankCollectives>& ranks);

} // namespace rankscope
