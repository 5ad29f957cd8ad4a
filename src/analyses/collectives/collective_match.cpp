#include "analyses/collectives/collective_match.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

/// Identity of a process group across ranks: two groups may share a name but not the members.
std::string group_key(const RankCollectives& r, const Collective& c) {
  return fmt::format("{}\x1f{}", r.text(c.pg_name), r.text(c.pg_ranks));
}

struct Signature {
  std::string name, dtype;
  std::int64_t in = 0, out = 0;
  bool operator==(const Signature&) const = default;
};

Signature signature(const RankCollectives& r, const Collective& c) {
  // sizes of all-to-all-v differ between ranks by design
  const bool varied = c.kind == CollectiveKind::kAllToAllV;
  return {std::string(r.text(c.name)), std::string(r.text(c.dtype)), varied ? 0 : c.in_nelems,
          varied ? 0 : c.out_nelems};
}

/// How many places rank b's list starts later than a's: b[i] is a[i + shift]. Among the shifts with
/// the most agreement the one whose ends lie closest in time, then the smallest.
std::int64_t find_shift(const RankCollectives& a, const std::vector<std::size_t>& rows_a,
                        const RankCollectives& b, const std::vector<std::size_t>& rows_b) {
  std::vector<Signature> sa;
  std::vector<Signature> sb;
  for (const std::size_t i : rows_a)
    sa.push_back(signature(a, a.rows[i]));
  for (const std::size_t i : rows_b)
    sb.push_back(signature(b, b.rows[i]));
  const auto na = static_cast<std::int64_t>(sa.size());
  const auto nb = static_cast<std::int64_t>(sb.size());
  const std::int64_t limit = std::min<std::int64_t>(std::max(na, nb) - 1, 2000);
  std::int64_t best = 0;
  double best_agree = -1;
  double best_distance = 0;
  for (std::int64_t step = 0; step <= 2 * limit; ++step) {
    const std::int64_t shift = step % 2 == 0 ? -step / 2 : (step + 1) / 2; // 0, 1, -1, 2, ...
    const std::int64_t from = std::max<std::int64_t>(0, -shift);
    const std::int64_t to = std::min(nb, na - shift);
    if (to - from < std::max<std::int64_t>(1, std::min(na, nb) / 4))
      continue;
    std::int64_t same = 0;
    std::vector<std::int64_t> distance;
    const std::int64_t stride = std::max<std::int64_t>(1, (to - from) / 512);
    std::int64_t looked = 0;
    for (std::int64_t i = from; i < to; i += stride, ++looked) {
      const auto ib = static_cast<std::size_t>(i);
      const auto ia = static_cast<std::size_t>(i + shift);
      same += sa[ia] == sb[ib] ? 1 : 0;
      distance.push_back(std::abs((a.base_time_ns + a.rows[rows_a[ia]].end_ns()) -
                                  (b.base_time_ns + b.rows[rows_b[ib]].end_ns())));
    }
    const double agree = static_cast<double>(same) / static_cast<double>(looked);
    std::nth_element(distance.begin(),
                     distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2),
                     distance.end());
    const auto middle = static_cast<double>(distance[distance.size() / 2]);
    if (agree > best_agree + 1e-9 || (agree > best_agree - 1e-9 && middle < best_distance * 0.5)) {
      best = shift;
      best_agree = agree;
      best_distance = middle;
    }
  }
  return best;
}

} // namespace

MatchResult match_collectives(const std::vector<RankCollectives>& ranks) {
  MatchResult out;
  // rows of each rank by group, in time order
  struct PerRank {
    std::size_t rank;
    std::vector<std::size_t> rows;
    bool all_seq = true;
  };
  std::map<std::string, std::vector<PerRank>> groups;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<std::string, PerRank> mine;
    for (std::size_t i = 0; i < ranks[r].rows.size(); ++i) {
      const Collective& c = ranks[r].rows[i];
      PerRank& p = mine.try_emplace(group_key(ranks[r], c), PerRank{r, {}, true}).first->second;
      p.rows.push_back(i);
      p.all_seq = p.all_seq && c.seq != kNoId;
    }
    for (auto& [key, p] : mine) {
      std::stable_sort(p.rows.begin(), p.rows.end(), [&](std::size_t a, std::size_t b) {
        return ranks[r].rows[a].ts_ns < ranks[r].rows[b].ts_ns;
      });
      groups[key].push_back(std::move(p));
    }
  }
  for (auto& [key, members] : groups) {
    std::string pg = key.substr(0, key.find('\x1f'));
    if (pg.empty())
      pg = "Unknown_Group";
    const bool by_seq =
        std::all_of(members.begin(), members.end(), [](const PerRank& p) { return p.all_seq; });
    // (seq or place, occurrence) -> members
    std::map<std::pair<std::int64_t, std::int64_t>,
             std::vector<std::pair<std::size_t, std::size_t>>>
        matched;
    const PerRank* reference = &members.front();
    for (const PerRank& p : members)
      if (p.rows.size() > reference->rows.size())
        reference = &p;
    for (const PerRank& p : members) {
      const RankCollectives& rank = ranks[p.rank];
      std::int64_t shift = 0;
      if (!by_seq && &p != reference) {
        shift = find_shift(ranks[reference->rank], reference->rows, rank, p.rows);
        if (shift != 0)
          out.problems.push_back(
              {pg, rank.rank, 0,
               fmt::format("its window starts {} collectives {} rank {}'s; matched "
                           "with that shift",
                           std::abs(shift), shift > 0 ? "after" : "before",
                           ranks[reference->rank].rank)});
      }
      std::map<std::int64_t, std::int64_t> occurrence;
      for (std::size_t i = 0; i < p.rows.size(); ++i) {
        const Collective& c = rank.rows[p.rows[i]];
        const std::int64_t place = by_seq ? c.seq : static_cast<std::int64_t>(i) + shift;
        matched[{place, by_seq ? occurrence[place]++ : 0}].emplace_back(p.rank, p.rows[i]);
      }
    }
    std::int64_t index = 0;
    for (auto& [place, rows] : matched) {
      MatchedCollective m;
      m.pg = pg;
      m.index = index++;
      m.members = std::move(rows);
      const auto [r0, i0] = m.members.front();
      const Signature first = signature(ranks[r0], ranks[r0].rows[i0]);
      m.kind = ranks[r0].rows[i0].kind;
      for (const auto& [r, i] : m.members)
        if (const Signature s = signature(ranks[r], ranks[r].rows[i]); s != first)
          out.problems.push_back(
              {pg, ranks[r].rank, m.index,
               fmt::format("{} {} {}->{} here, {} {} {}->{} on rank {}", s.name, s.dtype, s.in,
                           s.out, first.name, first.dtype, first.in, first.out, ranks[r0].rank)});
      out.collectives.push_back(std::move(m));
    }
  }
  return out;
}

} // namespace rankscope
