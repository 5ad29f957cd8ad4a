#include "analyses/collectives/collective_match.h"

#include "analyses/collectives/collective_sums.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>

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
  bool operator<(const Signature& o) const {
    return std::tie(name, dtype, in, out) < std::tie(o.name, o.dtype, o.in, o.out);
  }
};

Signature signature(const RankCollectives& r, const Collective& c) {
  // sizes of all-to-all-v differ between ranks by design
  const bool varied = c.kind == CollectiveKind::kAllToAllV;
  return {std::string(r.text(c.name)), std::string(r.text(c.dtype)), varied ? 0 : c.in_nelems,
          varied ? 0 : c.out_nelems};
}

/// The collectives of a group on one rank, in the order of time.
struct RankRows {
  std::size_t rank = 0;
  std::vector<std::size_t> rows;
  bool all_seq = true;
  std::vector<std::size_t> what;    ///< number of the signature, the same on all ranks
  std::vector<std::int64_t> seq;    ///< kNoId where there is none
  std::vector<std::int64_t> end_ns; ///< on the time base
};
using GroupRows = std::vector<RankRows>;

std::map<std::string, GroupRows> rows_by_group(const std::vector<RankCollectives>& ranks) {
  std::map<std::string, GroupRows> groups;
  std::map<Signature, std::size_t> numbers;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<std::string, RankRows> mine;
    for (std::size_t i = 0; i < ranks[r].rows.size(); ++i) {
      RankRows& p = mine[group_key(ranks[r], ranks[r].rows[i])];
      p.rank = r;
      p.rows.push_back(i);
    }
    for (auto& [key, p] : mine) {
      std::stable_sort(p.rows.begin(), p.rows.end(), [&](std::size_t a, std::size_t b) {
        return ranks[r].rows[a].ts_ns < ranks[r].rows[b].ts_ns;
      });
      for (const std::size_t i : p.rows) {
        const Collective& c = ranks[r].rows[i];
        p.what.push_back(numbers.emplace(signature(ranks[r], c), numbers.size()).first->second);
        p.seq.push_back(c.seq);
        p.end_ns.push_back(ranks[r].base_time_ns + c.end_ns());
        p.all_seq = p.all_seq && c.seq != kNoId;
      }
      groups[key].push_back(std::move(p));
    }
  }
  return groups;
}

/// Places of one collective in the lists of two ranks.
using Pair = std::pair<std::size_t, std::size_t>;

/// How well pairs fit: by what they are, and by when they end.
struct Fit {
  std::size_t pairs = 0;
  double agree = 0;             ///< share of pairs that agree in name, type and size
  std::int64_t offset_ns = 0;   ///< median of b's end - a's end: what clocks and shift make
  std::int64_t residual_ns = 0; ///< median distance from it: small when the pairs are right
};

std::int64_t median(std::vector<std::int64_t>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

Fit fit_of(const RankRows& a, const RankRows& b, const std::vector<Pair>& pairs) {
  Fit out;
  out.pairs = pairs.size();
  if (pairs.empty())
    return out;
  std::size_t same = 0;
  std::vector<std::int64_t> distance;
  for (const auto& [ia, ib] : pairs) {
    same += a.what[ia] == b.what[ib] ? 1 : 0;
    distance.push_back(b.end_ns[ib] - a.end_ns[ia]);
  }
  out.agree = static_cast<double>(same) / static_cast<double>(pairs.size());
  out.offset_ns = median(distance);
  for (std::int64_t& d : distance)
    d = std::abs(d - out.offset_ns);
  out.residual_ns = median(distance);
  return out;
}

/// a[i + shift] with b[i], at most `most` of them, evenly.
std::vector<Pair> shifted(const RankRows& a, const RankRows& b, std::int64_t shift,
                          std::int64_t most) {
  const auto na = static_cast<std::int64_t>(a.rows.size());
  const auto nb = static_cast<std::int64_t>(b.rows.size());
  const std::int64_t from = std::max<std::int64_t>(0, -shift);
  const std::int64_t to = std::min(nb, na - shift);
  const std::int64_t stride = std::max<std::int64_t>(1, (to - from) / most);
  std::vector<Pair> out;
  for (std::int64_t i = from; i < to; i += stride)
    out.emplace_back(static_cast<std::size_t>(i + shift), static_cast<std::size_t>(i));
  return out;
}

/// Ranks leave a collective within some microseconds; ends of right pairs scatter by less.
constexpr std::int64_t kLeaveTogetherNs = 50'000;

struct Shift {
  std::int64_t by = 0; ///< b[i] is a[i + by]
  Fit fit;
  bool decided = true;    ///< by the scatter of ends, whatever the clocks say
  bool ambiguous = false; ///< another shift fits as well
};

/// How far the clocks of two ranks are apart, as far as it is known: from groups whose shift the
/// scatter of ends decides.
class KnownClocks {
public:
  [[nodiscard]] bool empty() const { return edges_.empty(); }
  void add(std::size_t a, std::size_t b, std::int64_t offset_ns) {
    edges_[a].emplace_back(b, offset_ns);
    edges_[b].emplace_back(a, -offset_ns);
  }

  /// The clock of each of `of` - a's, on the shortest way through ranks that were compared; ranks
  /// to which there is no way are left out, as those that nobody asked for may be.
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

/// Shifts with the most agreement, the nearest first.
std::vector<Shift> agreeing_shifts(const RankRows& a, const RankRows& b) {
  constexpr std::int64_t kFarthest = 2000;
  constexpr std::int64_t kLooked = 512;
  constexpr double kEqual = 1e-9;
  const auto na = static_cast<std::int64_t>(a.rows.size());
  const auto nb = static_cast<std::int64_t>(b.rows.size());
  const std::int64_t limit = std::min<std::int64_t>(std::max(na, nb) - 1, kFarthest);
  std::vector<Shift> out;
  double best = 0;
  for (std::int64_t step = 0; step <= 2 * limit; ++step) {
    const std::int64_t by = step % 2 == 0 ? -step / 2 : (step + 1) / 2; // 0, 1, -1, 2, ...
    const std::int64_t common = std::min(nb, na - by) - std::max<std::int64_t>(0, -by);
    if (common < std::max<std::int64_t>(1, std::min(na, nb) / 4))
      continue;
    out.push_back({by, fit_of(a, b, shifted(a, b, by, kLooked)), true, false});
    best = std::max(best, out.back().fit.agree);
  }
  std::erase_if(out, [best](const Shift& s) { return s.fit.agree < best - kEqual; });
  return out;
}

/// Among the shifts that agree best: iterations last differently from time to time, so at a wrong
/// shift the distances of ends scatter by that, at the right one only by how the ranks leave. Where
/// that does not decide, the one that is nearest in time after `clock_ns` (b's clock - a's).
Shift find_shift(const RankRows& a, const RankRows& b, std::int64_t clock_ns = 0) {
  constexpr std::size_t kFinalists = 8;
  constexpr std::int64_t kWhole = INT64_MAX;
  constexpr std::size_t kFewestPairs = 4; // fewer, or one iteration of many, scatter little
  constexpr std::int64_t kClear = 3;
  constexpr std::int64_t kResolutionNs = 1000;
  std::vector<Shift> found = agreeing_shifts(a, b);
  if (found.size() < 2)
    return found.empty() ? Shift{} : found.front();
  std::stable_sort(found.begin(), found.end(), [](const Shift& x, const Shift& y) {
    return x.fit.residual_ns < y.fit.residual_ns;
  });
  // those of few pairs come first by chance: the nearest in time is always among the finalists
  const auto distance = [clock_ns](const Shift& s) { return std::abs(s.fit.offset_ns - clock_ns); };
  const auto nearer = [&distance](const Shift& x, const Shift& y) {
    return distance(x) < distance(y);
  };
  const Shift nearest = *std::min_element(found.begin(), found.end(), nearer);
  found.resize(std::min(found.size(), kFinalists));
  if (std::none_of(found.begin(), found.end(), [&](const Shift& s) { return s.by == nearest.by; }))
    found.push_back(nearest);
  for (Shift& s : found)
    s.fit = fit_of(a, b, shifted(a, b, s.by, kWhole));
  std::vector<Shift> whole = found;
  const std::size_t fewer = std::min(a.rows.size(), b.rows.size());
  std::erase_if(whole, [fewer](const Shift& s) {
    return s.fit.pairs < kFewestPairs || 2 * s.fit.pairs < fewer;
  });
  std::stable_sort(whole.begin(), whole.end(), [](const Shift& x, const Shift& y) {
    return x.fit.residual_ns < y.fit.residual_ns;
  });
  if (whole.size() > 1 && whole[0].fit.residual_ns <= kLeaveTogetherNs &&
      whole[1].fit.residual_ns > kClear * whole[0].fit.residual_ns + kResolutionNs)
    return whole[0];
  std::stable_sort(found.begin(), found.end(), nearer);
  Shift out = found[0];
  out.decided = false;
  out.ambiguous = distance(found[1]) <= kClear * distance(out) + kResolutionNs;
  return out;
}

/// The (Seq, how manieth with it) of each row of a rank.
std::vector<Pair> seq_places(const RankRows& p) {
  std::map<std::int64_t, std::size_t> seen;
  std::vector<Pair> out;
  for (const std::int64_t seq : p.seq)
    out.emplace_back(static_cast<std::size_t>(seq), seen[seq]++);
  return out;
}

std::vector<Pair> pairs_by_seq(const RankRows& a, const RankRows& b) {
  const std::vector<Pair> of_a = seq_places(a);
  const std::vector<Pair> of_b = seq_places(b);
  std::map<Pair, std::size_t> where;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    where[of_a[i]] = i;
  std::vector<Pair> out;
  for (std::size_t i = 0; i < of_b.size(); ++i)
    if (const auto found = where.find(of_b[i]); found != where.end())
      out.emplace_back(found->second, i);
  return out;
}

/// Whether Seq counts the collectives of this group on both ranks. Newer producers may count per
/// process, or twice: then its pairs fit worse than the order does.
bool seq_fits(const RankRows& a, const RankRows& b) {
  constexpr double kAgree = 0.95;
  constexpr std::size_t kFewestPairs = 4;
  const Fit by_seq = fit_of(a, b, pairs_by_seq(a, b));
  const std::size_t fewer = std::min(a.rows.size(), b.rows.size());
  if (4 * by_seq.pairs >= fewer && by_seq.agree >= kAgree && by_seq.residual_ns <= kLeaveTogetherNs)
    return true;
  const Shift order = find_shift(a, b);
  if (order.ambiguous || order.fit.agree < kAgree || order.fit.pairs < kFewestPairs ||
      2 * order.fit.pairs < fewer || order.fit.residual_ns > kLeaveTogetherNs)
    return true; // no better
  const std::int64_t window = b.end_ns.back() - b.end_ns.front();
  if (by_seq.pairs < kFewestPairs) // disjoint by Seq: windows at the same time are not
    return std::abs(order.fit.offset_ns) > window / 2;
  return by_seq.agree >= order.fit.agree - 0.05 &&
         by_seq.residual_ns <= 4 * order.fit.residual_ns + kLeaveTogetherNs;
}

class GroupMatch {
public:
  GroupMatch(const std::vector<RankCollectives>& ranks, std::string pg, const GroupRows& members,
             const KnownClocks& clocks, MatchResult& out)
      : ranks_(ranks), pg_(std::move(pg)), members_(members), clocks_(clocks), out_(out),
        reference_(*std::max_element(
            members.begin(), members.end(),
            [](const RankRows& a, const RankRows& b) { return a.rows.size() < b.rows.size(); })) {}

  /// Tells what the scatter of this group's ends says about clocks.
  void learn(KnownClocks& clocks) const {
    if (std::all_of(members_.begin(), members_.end(), [](const RankRows& p) { return p.all_seq; }))
      return; // no clock is needed
    for (const RankRows& p : members_)
      if (&p != &reference_)
        if (const Shift shift = find_shift(reference_, p);
            shift.decided && shift.fit.pairs >= 4 && shift.fit.residual_ns <= kLeaveTogetherNs)
          clocks.add(reference_.rank, p.rank, shift.fit.offset_ns);
  }

  void operator()() {
    const bool by_seq = seq_counts();
    if (!by_seq && !clocks_.empty()) {
      std::set<std::size_t> members;
      for (const RankRows& p : members_)
        members.insert(p.rank);
      offsets_ = clocks_.offsets(reference_.rank, std::move(members));
    }
    for (const RankRows& p : members_)
      if (by_seq)
        place_by_seq(p);
      else
        place_by_order(p);
    std::int64_t index = 0;
    for (auto& [place, rows] : matched_)
      emit(index++, std::move(rows));
  }

private:
  bool seq_counts() {
    if (!std::all_of(members_.begin(), members_.end(), [](const RankRows& p) { return p.all_seq; }))
      return false;
    for (const RankRows& p : members_)
      if (&p != &reference_ && !seq_fits(reference_, p)) {
        out_.problems.push_back(
            {pg_, ranks_[p.rank].rank, 0,
             fmt::format("its Seq does not count the collectives of this group as rank {}'s does: "
                         "matched by order",
                         ranks_[reference_.rank].rank),
             false});
        return false;
      }
    return true;
  }

  void place_by_seq(const RankRows& p) {
    const std::vector<Pair> places = seq_places(p);
    for (std::size_t i = 0; i < p.rows.size(); ++i)
      matched_[{p.seq[i], static_cast<std::int64_t>(places[i].second)}].emplace_back(p.rank,
                                                                                     p.rows[i]);
  }

  void place_by_order(const RankRows& p) {
    const auto offset = offsets_.find(p.rank);
    const Shift shift =
        &p == &reference_
            ? Shift{}
            : find_shift(reference_, p, offset == offsets_.end() ? 0 : offset->second);
    tell(p, shift);
    for (std::size_t i = 0; i < p.rows.size(); ++i)
      matched_[{static_cast<std::int64_t>(i) + shift.by, 0}].emplace_back(p.rank, p.rows[i]);
  }

  void tell(const RankRows& p, const Shift& shift) {
    const std::int64_t reference = ranks_[reference_.rank].rank;
    std::string text;
    if (shift.by != 0)
      text = fmt::format("its window starts {} collectives {} rank {}'s; matched with that shift",
                         std::abs(shift.by), shift.by > 0 ? "after" : "before", reference);
    if (shift.ambiguous)
      text += fmt::format("{}other shifts against rank {} fit as well: the match may be wrong by "
                          "whole iterations",
                          text.empty() ? "" : "; ", reference);
    if (!text.empty())
      out_.problems.push_back({pg_, ranks_[p.rank].rank, 0, std::move(text), true});
  }

  void emit(std::int64_t index, std::vector<Pair> rows) {
    MatchedCollective m;
    m.pg = pg_;
    m.index = index;
    m.members = std::move(rows);
    const auto [r0, i0] = m.members.front();
    const Collective& c0 = ranks_[r0].rows[i0];
    const Signature first = signature(ranks_[r0], c0);
    m.kind = c0.kind;
    m.expected = expected(ranks_[r0], c0);
    for (const auto& [r, i] : m.members)
      if (const Signature s = signature(ranks_[r], ranks_[r].rows[i]); s != first)
        out_.problems.push_back(
            {pg_, ranks_[r].rank, m.index,
             fmt::format("{} {} {}->{} here, {} {} {}->{} on rank {}", s.name, s.dtype, s.in, s.out,
                         first.name, first.dtype, first.in, first.out, ranks_[r0].rank),
             false});
    out_.collectives.push_back(std::move(m));
  }

  /// Members of the group: its list, else its size; the list is the same for the whole group.
  std::int64_t expected(const RankCollectives& rank, const Collective& c) {
    if (!listed_)
      listed_ = static_cast<std::int64_t>(numbers_in(rank.text(c.pg_ranks)).size());
    return std::max({*listed_, c.group_size, std::int64_t{0}});
  }

  const std::vector<RankCollectives>& ranks_;
  const std::string pg_;
  const GroupRows& members_;
  const KnownClocks& clocks_;
  std::map<std::size_t, std::int64_t> offsets_; ///< by rank: its clock - the reference's
  MatchResult& out_;
  const RankRows& reference_; ///< the one with the most
  std::optional<std::int64_t> listed_;
  /// (Seq or place, occurrence) -> members
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Pair>> matched_;
};

} // namespace

MatchResult match_collectives(const std::vector<RankCollectives>& ranks) {
  MatchResult out;
  KnownClocks clocks;
  const std::map<std::string, GroupRows> groups = rows_by_group(ranks);
  std::vector<GroupMatch> matches;
  for (const auto& [key, members] : groups) {
    const std::string pg = key.substr(0, key.find('\x1f'));
    matches.emplace_back(ranks, pg.empty() ? "Unknown_Group" : pg, members, clocks, out);
  }
  for (const GroupMatch& match : matches)
    match.learn(clocks);
  for (GroupMatch& match : matches)
    match();
  return out;
}

} // namespace rankscope
