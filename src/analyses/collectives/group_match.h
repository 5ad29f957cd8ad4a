// Order of the collectives in one process group: whether Seq counts them, or by how many
// collectives the window of each rank is shifted. Compares two ranks at a time, so that thousands
// of ranks need not be in memory.
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

/// The properties that must be equal on all members of a collective.
struct Signature {
  std::string name, dtype;
  std::int64_t in = 0, out = 0;
  bool operator==(const Signature&) const = default;
  bool operator<(const Signature& o) const;
};
[[nodiscard]] Signature signature(const RankCollectives& r, const Collective& c);

/// Returns the identity of a process group across ranks. Two groups may have the same name but
/// different members. In a group of more than two ranks, the sends from one rank to another and
/// their receives are a separate group; if the other rank is unknown, those of each rank are.
[[nodiscard]] std::string group_key(const RankCollectives& r, const Collective& c);
/// The name of a group, and a number, since several groups may have this name.
struct GroupName {
  std::string pg;             ///< "Unknown_Group" when the key has no name
  std::size_t name_index = 0; ///< as `MatchedCollective::name_index`
};
/// Numbers the groups of each name.
class GroupNames {
public:
  /// Returns the name of the group with this key. Keys must be passed in ascending order, each
  /// once. The pairs of ranks in a group have its name and number.
  [[nodiscard]] GroupName name_of(const std::string& key);

private:
  std::map<std::string, std::size_t> seen_;
  std::string last_; ///< key of the last group, without a pair of ranks
};

/// The collectives of a group on one rank, in the order of time.
struct RankRows {
  std::size_t rank = 0;             ///< position in the list of ranks
  std::vector<std::size_t> what;    ///< number of the signature, the same on all ranks of the group
  std::vector<std::int64_t> seq;    ///< kNoId = no Seq
  std::vector<std::int64_t> end_ns; ///< by the file's time base
  std::vector<std::int64_t> step;   ///< only of sends and receives by pair; -1 = no step
  [[nodiscard]] std::size_t size() const { return what.size(); }
};

/// The place of a collective in its group: (Seq, index among the collectives with this Seq), or
/// (order, 0).
struct CollectivePlace {
  std::int64_t at = 0, nth = 0;
  auto operator<=>(const CollectivePlace&) const = default; // NOLINT(modernize-use-nullptr)
};
/// Returns the place of each row by Seq.
[[nodiscard]] std::vector<CollectivePlace> seq_places(const std::vector<std::int64_t>& seq);

/// The ranks of a group, in memory or not.
class GroupMembers : public Interface {
public:
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Data of the i-th member: position in the list of ranks, number of rows, and whether all rows
  /// have a Seq that can number the collectives of the group. (That of a send or a receive counts
  /// those of its rank, with any other rank of the group.)
  [[nodiscard]] virtual std::size_t rank(std::size_t i) const = 0;
  [[nodiscard]] virtual std::size_t rows(std::size_t i) const = 0;
  [[nodiscard]] virtual bool all_seq(std::size_t i) const = 0;
  /// Returns the rows of the i-th member; loads them into `room` if they are not in memory.
  [[nodiscard]] virtual const RankRows& load(std::size_t i, RankRows& room) const = 0;
};

/// Known clock offsets between pairs of ranks. They come from groups in which the scatter of ends
/// decides the shift.
class KnownClocks {
public:
  [[nodiscard]] bool empty() const { return edges_.empty(); }
  void add(std::size_t a, std::size_t b, std::int64_t offset_ns) {
    edges_[a].emplace_back(b, offset_ns);
    edges_[b].emplace_back(a, -offset_ns);
  }

  /// Returns the clock of each rank in `ranks` minus the clock of `a`, added up along the shortest
  /// path of compared ranks. Ranks without a path are left out; ranks on the paths may be included.
  [[nodiscard]] std::map<std::size_t, std::int64_t> offsets(std::size_t a,
                                                            std::set<std::size_t> ranks) const {
    std::map<std::size_t, std::int64_t> seen = {{a, 0}};
    ranks.erase(a);
    std::vector<std::size_t> queue = {a};
    for (std::size_t next = 0; next < queue.size() && !ranks.empty(); ++next) {
      const auto found = edges_.find(queue[next]);
      if (found == edges_.end())
        continue;
      for (const auto& [rank, offset_ns] : found->second)
        if (seen.emplace(rank, seen[queue[next]] + offset_ns).second) {
          queue.push_back(rank);
          ranks.erase(rank);
        }
    }
    return seen;
  }

private:
  std::map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>> edges_;
};

/// Adds the clock offsets between members of this group for which the scatter of ends decides the
/// shift.
void learn_clocks(const GroupMembers& group, KnownClocks& clocks);

/// How the rows of a group's members are matched: by Seq, or by order with a shift per member.
struct GroupOrder {
  bool by_seq = false;
  std::vector<std::int64_t> shift; ///< if not by_seq: one per member; row i has place i + shift

  [[nodiscard]] CollectivePlace place(std::size_t member, std::size_t row) const {
    return {static_cast<std::int64_t>(row) + shift[member], 0};
  }
};
/// Returns the order of a group. `clocks` must contain the results of learn_clocks() for all
/// groups. Adds shifts and other irregularities to `problems`, with the rank numbers of `ranks`.
[[nodiscard]] GroupOrder group_order(const GroupMembers& group, const std::string& pg,
                                     const std::vector<RankCollectives>& ranks,
                                     const KnownClocks& clocks,
                                     std::vector<CollectiveProblem>& problems);

/// The members in the list of a process group.
struct ListedMembers {
  std::int64_t count = 0; ///< 0 = the list is not recorded
  std::int64_t read = 0;  ///< number of them, or without a list of all ranks, with a trace
};

/// Returns the collective with these rows (position, row), which must be ascending. Adds rows with
/// a different signature to `problems`. `listed`: the members in the group's list, determined on
/// first use.
[[nodiscard]] MatchedCollective
matched_collective(const std::vector<RankCollectives>& ranks, const GroupName& group,
                   std::int64_t index, std::vector<std::pair<std::size_t, std::size_t>> rows,
                   std::optional<ListedMembers>& listed, std::vector<CollectiveProblem>& problems);

} // namespace rankscope
