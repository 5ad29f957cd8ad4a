#include "analyses/collectives/collective_match.h"

#include "analyses/collectives/group_match.h"
#include "base/sort.h"

#include <map>
#include <optional>

namespace rankscope {
namespace {

/// A group with all its rows in memory.
class MemoryMembers final : public GroupMembers {
public:
  struct Member {
    RankRows rows;
    std::vector<std::size_t> in_file; ///< index of each row among the rank's rows
    bool all_seq = true;
  };
  std::vector<Member> members;

  [[nodiscard]] std::size_t size() const override { return members.size(); }
  [[nodiscard]] std::size_t rank(std::size_t i) const override { return members[i].rows.rank; }
  [[nodiscard]] std::size_t rows(std::size_t i) const override { return members[i].rows.size(); }
  [[nodiscard]] bool all_seq(std::size_t i) const override { return members[i].all_seq; }
  [[nodiscard]] const RankRows& load(std::size_t i, RankRows&) const override {
    return members[i].rows;
  }
};

std::map<std::string, MemoryMembers> rows_by_group(const std::vector<RankCollectives>& ranks) {
  std::map<std::string, MemoryMembers> groups;
  std::map<Signature, std::size_t> numbers;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<std::string, MemoryMembers::Member> rank_groups;
    for (std::size_t i = 0; i < ranks[r].rows.size(); ++i)
      rank_groups[group_key(ranks[r], ranks[r].rows[i])].in_file.push_back(i);
    for (auto& [key, p] : rank_groups) {
      sort_stably(p.in_file, [&](std::size_t a, std::size_t b) {
        return ranks[r].rows[a].ts_ns < ranks[r].rows[b].ts_ns;
      });
      p.rows.rank = r;
      for (const std::size_t i : p.in_file) {
        const Collective& c = ranks[r].rows[i];
        p.rows.what.push_back(
            numbers.emplace(signature(ranks[r], c), numbers.size()).first->second);
        p.rows.seq.push_back(c.seq);
        p.rows.end_ns.push_back(ranks[r].base_time_ns + c.end_ns());
        p.all_seq = p.all_seq && c.seq != kNoId && !c.of_pair();
        if (c.of_pair())
          p.rows.step.push_back(c.step);
      }
      groups[key].members.push_back(std::move(p));
    }
  }
  return groups;
}

void match_group(const std::vector<RankCollectives>& ranks, const GroupName& name,
                 const MemoryMembers& group, const KnownClocks& clocks, MatchResult& out) {
  const GroupOrder order = group_order(group, name.pg, ranks, clocks, out.problems);
  std::map<CollectivePlace, std::vector<std::pair<std::size_t, std::size_t>>> matched;
  for (std::size_t m = 0; m < group.size(); ++m) {
    const MemoryMembers::Member& member = group.members[m];
    const std::vector<CollectivePlace> by_seq =
        order.by_seq ? seq_places(member.rows.seq) : std::vector<CollectivePlace>();
    for (std::size_t i = 0; i < member.in_file.size(); ++i)
      matched[order.by_seq ? by_seq[i] : order.place(m, i)].emplace_back(member.rows.rank,
                                                                         member.in_file[i]);
  }
  std::int64_t index = 0;
  std::optional<ListedMembers> listed;
  for (auto& [place, rows] : matched)
    out.collectives.push_back(
        matched_collective(ranks, name, index++, std::move(rows), listed, out.problems));
}

} // namespace

MatchResult match_collectives(const std::vector<RankCollectives>& ranks) {
  MatchResult out;
  KnownClocks clocks;
  const std::map<std::string, MemoryMembers> groups = rows_by_group(ranks);
  for (const auto& [key, members] : groups)
    learn_clocks(members, clocks);
  GroupNames names;
  for (const auto& [key, members] : groups)
    match_group(ranks, names.name_of(key), members, clocks, out);
  return out;
}

} // namespace rankscope
