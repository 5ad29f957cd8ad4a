#include "analyses/collectives/group_match.h"

#include "analyses/collectives/collective_sums.h"
#include "base/lower_median.h"
#include "base/sort.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <tuple>

namespace rankscope {
namespace {

/// Of sends and receives. One side sends the data that the other receives, and a call may do both
/// with several ranks, so their names and sizes are not compared.
const Signature kPointToPoint = {"send or recv", "", 0, 0};

/// Places of one collective in the lists of two ranks.
using Pair = std::pair<std::size_t, std::size_t>;

/// Agreement of pairs of rows in signature and in end time.
struct GroupMatchFit {
  std::size_t pairs = 0;
  double agree = 0;             ///< fraction of pairs that agree in name, type and size
  std::int64_t offset_ns = 0;   ///< median of b's end - a's end, caused by clocks and shift
  std::int64_t residual_ns = 0; ///< median distance from offset_ns: small if the pairs are right
};

GroupMatchFit fit_of(const RankRows& a, const RankRows& b, const std::vector<Pair>& pairs) {
  GroupMatchFit out;
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
  out.offset_ns = lower_median(distance);
  for (std::int64_t& d : distance)
    d = std::abs(d - out.offset_ns);
  out.residual_ns = lower_median(distance);
  return out;
}

/// Returns pairs of a[i + shift] and b[i]: about `most` pairs, evenly spaced.
std::vector<Pair> shifted(const RankRows& a, const RankRows& b, std::int64_t shift,
                          std::int64_t most) {
  const auto na = static_cast<std::int64_t>(a.size());
  const auto nb = static_cast<std::int64_t>(b.size());
  const std::int64_t from = std::max<std::int64_t>(0, -shift);
  const std::int64_t to = std::min(nb, na - shift);
  const std::int64_t stride = std::max<std::int64_t>(1, (to - from) / most);
  std::vector<Pair> out;
  for (std::int64_t i = from; i < to; i += stride)
    out.emplace_back(static_cast<std::size_t>(i + shift), static_cast<std::size_t>(i));
  return out;
}

/// Ranks leave a collective within some microseconds; the ends of correct pairs scatter by less
/// than this value.
constexpr std::int64_t kEndTogetherNs = 50'000;

struct Shift {
  std::int64_t rows = 0; ///< b[i] and a[i + by] are one collective
  GroupMatchFit fit;
  bool decided = true;    ///< chosen by the scatter of ends, which does not depend on the clocks
  bool ambiguous = false; ///< another shift fits equally well
};

/// Returns the shifts with the most agreement, smallest shift first.
std::vector<Shift> agreeing_shifts(const RankRows& a, const RankRows& b) {
  constexpr std::int64_t kFarthest = 2000;
  constexpr std::int64_t kCompared = 512;
  constexpr double kEqual = 1e-9;
  const auto na = static_cast<std::int64_t>(a.size());
  const auto nb = static_cast<std::int64_t>(b.size());
  const std::int64_t limit = std::min<std::int64_t>(std::max(na, nb) - 1, kFarthest);
  std::vector<Shift> out;
  double best = 0;
  for (std::int64_t step = 0; step <= 2 * limit; ++step) {
    const std::int64_t rows = step % 2 == 0 ? -step / 2 : (step + 1) / 2; // 0, 1, -1, 2, ...
    const std::int64_t common = std::min(nb, na - rows) - std::max<std::int64_t>(0, -rows);
    if (common < std::max<std::int64_t>(1, std::min(na, nb) / 4))
      continue;
    out.push_back({rows, fit_of(a, b, shifted(a, b, rows, kCompared)), true, false});
    best = std::max(best, out.back().fit.agree);
  }
  std::erase_if(out, [best](const Shift& s) { return s.fit.agree < best - kEqual; });
  return out;
}

/// Returns whether the ranks of a pair recorded as many sends as receives, in the same steps. A
/// search for the shift would be slow, because a run has many pairs.
bool same_steps(const RankRows& a, const RankRows& b) {
  return !a.step.empty() && a.step.size() == b.step.size() && a.step.front() >= 0 &&
         a.step.front() == b.step.front() && a.step.back() == b.step.back();
}

/// Chooses among the shifts that agree best. Iterations differ in duration. At a wrong shift, pairs
/// are from different iterations, so the distances of their ends scatter by these differences. At
/// the right shift, they scatter only because ranks do not leave at the same instant. If the
/// scatter does not decide, returns the shift nearest in time, given `clock_ns` (b's clock - a's).
Shift find_shift(const RankRows& a, const RankRows& b, std::int64_t clock_ns = 0) {
  constexpr std::size_t kFinalists = 8;
  constexpr std::int64_t kAll = INT64_MAX;
  constexpr std::size_t kFewestPairs = 4; // few pairs, or pairs of one iteration, always scatter
                                          // little
  constexpr std::int64_t kClear = 3;
  constexpr std::int64_t kResolutionNs = 1000;
  if (same_steps(a, b))
    return {};
  std::vector<Shift> found = agreeing_shifts(a, b);
  if (found.size() < 2)
    return found.empty() ? Shift{} : found.front();
  sort_stably(found,
              [](const Shift& x, const Shift& y) { return x.fit.residual_ns < y.fit.residual_ns; });
  // shifts with few pairs may be first by chance, so the shift nearest in time is always a finalist
  const auto distance = [clock_ns](const Shift& s) { return std::abs(s.fit.offset_ns - clock_ns); };
  const auto nearer = [&distance](const Shift& x, const Shift& y) {
    return distance(x) < distance(y);
  };
  const Shift nearest = *std::min_element(found.begin(), found.end(), nearer);
  found.resize(std::min(found.size(), kFinalists));
  if (std::none_of(found.begin(), found.end(),
                   [&](const Shift& s) { return s.rows == nearest.rows; }))
    found.push_back(nearest);
  for (Shift& s : found)
    s.fit = fit_of(a, b, shifted(a, b, s.rows, kAll));
  std::vector<Shift> paired = found;
  const std::size_t fewer = std::min(a.size(), b.size());
  std::erase_if(paired, [fewer](const Shift& s) {
    return s.fit.pairs < kFewestPairs || 2 * s.fit.pairs < fewer;
  });
  sort_stably(paired,
              [](const Shift& x, const Shift& y) { return x.fit.residual_ns < y.fit.residual_ns; });
  if (paired.size() > 1 && paired[0].fit.residual_ns <= kEndTogetherNs &&
      paired[1].fit.residual_ns > kClear * paired[0].fit.residual_ns + kResolutionNs)
    return paired[0];
  sort_stably(found, nearer);
  Shift out = found[0];
  out.decided = false;
  out.ambiguous = distance(found[1]) <= kClear * distance(out) + kResolutionNs;
  return out;
}

std::vector<Pair> pairs_by_seq(const RankRows& a, const RankRows& b) {
  const std::vector<CollectivePlace> places_a = seq_places(a.seq);
  const std::vector<CollectivePlace> places_b = seq_places(b.seq);
  std::map<CollectivePlace, std::size_t> where;
  for (std::size_t i = 0; i < places_a.size(); ++i)
    where[places_a[i]] = i;
  std::vector<Pair> out;
  for (std::size_t i = 0; i < places_b.size(); ++i)
    if (const auto found = where.find(places_b[i]); found != where.end())
      out.emplace_back(found->second, i);
  return out;
}

/// Returns whether Seq counts the collectives of this group on both ranks. Newer producers may
/// count per process, or count a collective twice. In these cases, pairs by Seq fit worse than
/// pairs by order.
bool seq_fits(const RankRows& a, const RankRows& b) {
  constexpr double kAgree = 0.95;
  constexpr std::size_t kFewestPairs = 4;
  const GroupMatchFit by_seq = fit_of(a, b, pairs_by_seq(a, b));
  const std::size_t fewer = std::min(a.size(), b.size());
  if (4 * by_seq.pairs >= fewer && by_seq.agree >= kAgree && by_seq.residual_ns <= kEndTogetherNs)
    return true;
  const Shift order = find_shift(a, b);
  if (order.ambiguous || order.fit.agree < kAgree || order.fit.pairs < kFewestPairs ||
      2 * order.fit.pairs < fewer || order.fit.residual_ns > kEndTogetherNs)
    return true; // pairs by order do not fit better
  const std::int64_t window = b.end_ns.back() - b.end_ns.front();
  if (by_seq.pairs < kFewestPairs) // Seqs may differ only if the windows are not at the same time
    return std::abs(order.fit.offset_ns) > window / 2;
  return by_seq.agree >= order.fit.agree - 0.05 &&
         by_seq.residual_ns <= 4 * order.fit.residual_ns + kEndTogetherNs;
}

/// Returns the first member with the most rows.
std::size_t reference_of(const GroupMembers& group) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < group.size(); ++i)
    if (group.rows(i) > group.rows(best))
      best = i;
  return best;
}

bool all_have_seq(const GroupMembers& group) {
  for (std::size_t i = 0; i < group.size(); ++i)
    if (!group.all_seq(i))
      return false;
  return true;
}

/// The search for the order of a group.
class OrderSearch {
public:
  OrderSearch(const GroupMembers& group, const std::string& pg,
              const std::vector<RankCollectives>& ranks, std::vector<CollectiveProblem>& problems)
      : group_(group), pg_(pg), ranks_(ranks), problems_(problems), reference_(reference_of(group)),
        first_(group.load(reference_, first_room_)) {}

  GroupOrder operator()(const KnownClocks& clocks) {
    GroupOrder out;
    out.by_seq = all_have_seq(group_) && seq_counts();
    if (out.by_seq)
      return out;
    std::map<std::size_t, std::int64_t> offsets; // by rank: rank's clock - reference's clock
    if (!clocks.empty()) {
      std::set<std::size_t> members;
      for (std::size_t i = 0; i < group_.size(); ++i)
        members.insert(group_.rank(i));
      offsets = clocks.offsets(first_.rank, std::move(members));
    }
    RankRows room;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const auto offset = offsets.find(group_.rank(i));
      const Shift shift = i == reference_
                              ? Shift{}
                              : find_shift(first_, group_.load(i, room),
                                           offset == offsets.end() ? 0 : offset->second);
      report_shift(group_.rank(i), shift);
      out.shift.push_back(shift.rows);
    }
    return out;
  }

private:
  bool seq_counts() {
    RankRows room;
    for (std::size_t i = 0; i < group_.size(); ++i)
      if (i != reference_ && !seq_fits(first_, group_.load(i, room))) {
        problems_.push_back({pg_, ranks_[group_.rank(i)].rank, 0,
                             fmt::format("its Seq does not count the collectives of this group "
                                         "like that of rank {}: collectives are matched by order",
                                         ranks_[first_.rank].rank),
                             false});
        return false;
      }
    return true;
  }

  void report_shift(std::size_t rank, const Shift& shift) {
    const std::int64_t reference = ranks_[first_.rank].rank;
    std::string text;
    if (shift.rows != 0)
      text = fmt::format("its recording starts {} collectives {} that of rank {}; collectives are "
                         "matched with this shift",
                         std::abs(shift.rows), shift.rows > 0 ? "after" : "before", reference);
    if (shift.ambiguous)
      text += fmt::format("{}other shifts against rank {} fit as well: the match may be off by one "
                          "or more iterations",
                          text.empty() ? "" : "; ", reference);
    if (!text.empty())
      problems_.push_back({pg_, ranks_[rank].rank, 0, std::move(text), true});
  }

  const GroupMembers& group_;
  const std::string& pg_;
  const std::vector<RankCollectives>& ranks_;
  std::vector<CollectiveProblem>& problems_;
  const std::size_t reference_; ///< member with the most rows
  RankRows first_room_;
  const RankRows& first_; ///< rows of the reference
};

/// Returns signature(r, c) == expected without copying texts.
bool has_signature(const RankCollectives& r, const Collective& c, const Signature& expected) {
  if (is_point_to_point(c.kind))
    return expected == kPointToPoint;
  const bool varied = c.kind == CollectiveKind::kAllToAllV;
  return r.text(c.name) == expected.name && r.text(c.dtype) == expected.dtype &&
         (varied ? 0 : c.in_nelems) == expected.in && (varied ? 0 : c.out_nelems) == expected.out;
}

} // namespace

bool Signature::operator<(const Signature& o) const {
  return std::tie(name, dtype, in, out) < std::tie(o.name, o.dtype, o.in, o.out);
}

Signature signature(const RankCollectives& r, const Collective& c) {
  if (is_point_to_point(c.kind))
    return kPointToPoint;
  // sizes of all-to-all-v differ between ranks by design
  const bool varied = c.kind == CollectiveKind::kAllToAllV;
  return {std::string(r.text(c.name)), std::string(r.text(c.dtype)), varied ? 0 : c.in_nelems,
          varied ? 0 : c.out_nelems};
}

std::string group_key(const RankCollectives& r, const Collective& c) {
  std::string out = fmt::format("{}\x1f{}", r.text(c.pg_name), r.text(c.pg_ranks));
  if (c.of_pair())
    out += fmt::format("\x1f{} {}", c.src_rank, c.dst_rank);
  return out;
}

GroupName GroupNames::name_of(const std::string& key) {
  const std::size_t name_end = key.find('\x1f');
  GroupName out{key.substr(0, name_end)};
  if (out.pg.empty())
    out.pg = "Unknown_Group";
  std::size_t& groups = seen_[out.pg];
  std::string group = key.substr(0, key.find('\x1f', name_end + 1));
  if (groups == 0 || group != last_)
    ++groups;
  last_ = std::move(group);
  out.name_index = groups - 1;
  return out;
}

std::vector<CollectivePlace> seq_places(const std::vector<std::int64_t>& seq) {
  std::map<std::int64_t, std::int64_t> seen;
  std::vector<CollectivePlace> out;
  out.reserve(seq.size());
  for (const std::int64_t s : seq)
    out.push_back({s, seen[s]++});
  return out;
}

void learn_clocks(const GroupMembers& group, KnownClocks& clocks) {
  if (all_have_seq(group))
    return; // no clock is needed
  const std::size_t reference = reference_of(group);
  RankRows first_room;
  RankRows room;
  const RankRows& first = group.load(reference, first_room);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i == reference)
      continue;
    const Shift shift = find_shift(first, group.load(i, room));
    if (shift.decided && shift.fit.pairs >= 4 && shift.fit.residual_ns <= kEndTogetherNs)
      clocks.add(first.rank, group.rank(i), shift.fit.offset_ns);
  }
}

GroupOrder group_order(const GroupMembers& group, const std::string& pg,
                       const std::vector<RankCollectives>& ranks, const KnownClocks& clocks,
                       std::vector<CollectiveProblem>& problems) {
  return OrderSearch(group, pg, ranks, problems)(clocks);
}

namespace {

ListedMembers listed_members(const std::vector<RankCollectives>& ranks, std::string_view list) {
  const std::vector<std::int64_t> members = numbers_in(list);
  if (members.empty()) // any rank may be a member
    return {0, static_cast<std::int64_t>(ranks.size())};
  std::vector<std::int64_t> read;
  for (const RankCollectives& r : ranks)
    read.push_back(r.rank);
  std::sort(read.begin(), read.end());
  return {static_cast<std::int64_t>(members.size()),
          std::count_if(members.begin(), members.end(), [&](std::int64_t rank) {
            return std::binary_search(read.begin(), read.end(), rank);
          })};
}

} // namespace

MatchedCollective matched_collective(const std::vector<RankCollectives>& ranks,
                                     const GroupName& group, std::int64_t index,
                                     std::vector<std::pair<std::size_t, std::size_t>> rows,
                                     std::optional<ListedMembers>& listed,
                                     std::vector<CollectiveProblem>& problems) {
  MatchedCollective m;
  m.pg = group.pg;
  m.name_index = group.name_index;
  m.index = index;
  m.members = std::move(rows);
  const auto [r0, i0] = m.members.front();
  const Collective& c0 = ranks[r0].rows[i0];
  const Signature first = signature(ranks[r0], c0);
  m.kind = c0.kind;
  if (!listed)
    listed = listed_members(ranks, ranks[r0].text(c0.pg_ranks));
  const std::int64_t in_group = std::max({listed->count, c0.group_size, std::int64_t{0}});
  m.all_read = listed->read >= in_group;
  if (c0.of_pair())
    m.expected = c0.knows_pair() ? 2 : 0;
  else
    m.expected = in_group;
  for (const auto& [r, i] : m.members) {
    const Collective& c = ranks[r].rows[i];
    if (has_signature(ranks[r], c, first))
      continue;
    const Signature s = signature(ranks[r], c);
    problems.push_back(
        {m.pg, ranks[r].rank, m.index,
         fmt::format("{} {} {}->{} here, {} {} {}->{} on rank {}", s.name, s.dtype, s.in, s.out,
                     first.name, first.dtype, first.in, first.out, ranks[r0].rank),
         false});
  }
  return m;
}

} // namespace rankscope
