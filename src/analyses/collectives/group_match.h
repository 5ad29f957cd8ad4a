// How the ranks of one process group fit together: whether Seq counts its collectives, or by how
// many each rank's window is shifted. Compares two ranks at a time, so that thousands of ranks need
// not be in memory.
#pragma once

#include "analyses/collectives/collective_match.h"
#include "base/noncopyable.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The properties that must agree among the members of a collective.
struct Signature {
  std::string name, dtype;
  std::int64_t in = 0, out = 0;
  bool operator==(const Signature&) const = default;
  bool operator<(const Signature& o) const;
};
[[nodiscard]] Signature signature(const RankCollectives& r, const Collective& c);

/// Identity of a process group across ranks: two groups may share a name but not the members.
[[nodiscard]] std::string group_key(const RankCollectives& r, const Collective& c);
/// The name of a group, with a number since two groups may share a name but not the members.
struct GroupName {
  std::string pg;       ///< "Unknown_Group" when the key has no name
  std::size_t twin = 0; ///< as `MatchedCollective::twin`
};
/// Numbers the groups of each name.
class GroupNames {
public:
  /// Keys come in their order, each once.
  [[nodiscard]] GroupName of(const std::string& key);

private:
  std::map<std::string, std::size_t> seen_;
};

/// The collectives of a group on one rank, in the order of time.
struct RankRows {
  std::size_t rank = 0;             ///< position in the list of ranks
  std::vector<std::size_t> what;    ///< number of the signature, the same on all ranks of the group
  std::vector<std::int64_t> seq;    ///< kNoId = no Seq
  std::vector<std::int64_t> end_ns; ///< on the time base
  [[nodiscard]] std::size_t size() const { return what.size(); }
};

/// The place of a collective in its group: (Seq, index among those with this Seq), or (order, 0).
struct CollectivePlace {
  std::int64_t at = 0, nth = 0;
  auto operator<=>(const CollectivePlace&) const = default; // NOLINT(modernize-use-nullptr)
};
/// Returns the places by Seq.
[[nodiscard]] std::vector<CollectivePlace> seq_places(const std::vector<std::int64_t>& seq);

/// The ranks of a group, in memory or not.
class GroupMembers : public Interface {
public:
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Of the i-th: its position in the list of ranks, how many rows it has, whether all have a Seq.
  [[nodiscard]] virtual std::size_t rank(std::size_t i) const = 0;
  [[nodiscard]] virtual std::size_t rows(std::size_t i) const = 0;
  [[nodiscard]] virtual bool all_seq(std::size_t i) const = 0;
  /// Returns the rows of the i-th; loads them into `room` if they are not in memory.
  [[nodiscard]] virtual const RankRows& load(std::size_t i, RankRows& room) const = 0;
};

/// Known clock offsets between two ranks, from groups with a shift decided by the scatter of ends.
class KnownClocks {
public:
  [[nodiscard]] bool empty() const { return edges_.empty(); }
  void add(std::size_t a, std::size_t b, std::int64_t offset_ns) {
    edges_[a].emplace_back(b, offset_ns);
    edges_[b].emplace_back(a, -offset_ns);
  }

  /// Returns (clock of rank - clock of a) for the ranks `of`, on the shortest path through compared
  /// ranks. Ranks without a path are left out; ranks on the paths may be included.
  [[nodiscard]] std::map<std::size_t, std::int64_t> offsets(std::size_t a,
                                                            std::set<std::size_t> of) const {
    std::map<std::size_t, std::int64_t> seen = {{a, 0}};
    of.erase(a);
    std::vector<std::size_t> queue = {a};
    for (std::size_t next = 0; next < queue.size() && !of.empty(); ++next) {
      const auto found = edges_.find(queue[next]);
      if (found == edges_.end())
        continue;
      for (const auto& [rank, offset_ns] : found->second)
        if (seen.emplace(rank, seen[queue[next]] + offset_ns).second) {
          queue.push_back(rank);
          of.erase(rank);
        }
    }
    return seen;
  }

private:
  std::map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>> edges_;
};

/// Adds the clock offsets that the scatter of this group's ends shows.
void learn_clocks(const GroupMembers& group, KnownClocks& clocks);

/// How the collectives of a group are identified.
struct GroupOrder {
  bool by_seq = false;
  std::vector<std::int64_t> shift; ///< else of each member: its i-th is the (i + shift)-th

  [[nodiscard]] CollectivePlace place(std::size_t member, std::size_t row) const {
    return {static_cast<std::int64_t>(row) + shift[member], 0};
  }
};
/// `clocks` from all groups. Shifts and other irregularities go to `problems`; `ranks`: their
/// numbers.
[[nodiscard]] GroupOrder group_order(const GroupMembers& group, const std::string& pg,
                                     const std::vector<RankCollectives>& ranks,
                                     const KnownClocks& clocks,
                                     std::vector<CollectiveProblem>& problems);

/// Returns the collective of those rows (position, row), ascending; disagreements go to `problems`.
/// `listed`: number of members in the group's list, determined on first use.
[[nodiscard]] MatchedCollective
matched_collective(const std::vector<RankCollectives>& ranks, const GroupName& group,
                   std::int64_t index, std::vector<std::pair<std::size_t, std::size_t>> rows,
                   std::optional<std::int64_t>& listed, std::vector<CollectiveProblem>& problems);

} // namespace rankscope
