#include "analyses/collectives/collective_stream.h"

#include "analyses/collectives/ends_source.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace rankscope {
namespace {

/// The number of rows that each call of `use` gets.
constexpr std::size_t kRowsAtOnce = 4096;

std::vector<CollectivePlace> places_of(const GroupOrder& order, std::size_t member,
                                       const std::vector<Collective>& rows) {
  std::vector<std::int64_t> seqs;
  if (order.by_seq) {
    for (const Collective& c : rows)
      seqs.push_back(c.seq);
    return seq_places(seqs);
  }
  std::vector<CollectivePlace> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.push_back(order.place(member, i));
  return out;
}

} // namespace

void GroupIndex::add(const CollectivePlace& place, bool synchronises) {
  const std::size_t n = synchronises_.size();
  if (n == 0)
    first_ = place.at;
  const CollectivePlace next{first_ + static_cast<std::int64_t>(n), 0};
  if (places_.empty() && place != next)
    for (std::size_t i = 0; i < n; ++i)
      places_.push_back({first_ + static_cast<std::int64_t>(i), 0});
  if (!places_.empty() || place != next)
    places_.push_back(place);
  synchronises_.push_back(synchronises);
}

std::size_t GroupIndex::find(const CollectivePlace& place) const {
  const std::size_t at =
      places_.empty()
          ? static_cast<std::size_t>(place.at - first_)
          : static_cast<std::size_t>(std::lower_bound(places_.begin(), places_.end(), place) -
                                     places_.begin());
  return std::min(at, synchronises_.size() - 1); // unreadable rows can be beyond the end
}

/// Ends of collectives for clock alignment, read again rank by rank.
class CollectiveStream::Ends final : public EndsSource {
public:
  explicit Ends(const CollectiveStream& stream) : stream_(stream) {
    std::size_t next = 0;
    for (const GroupIndex& index : stream.index_) {
      first_id_.push_back(next);
      next += index.size();
    }
  }

  std::vector<std::size_t> sharing(std::size_t rank,
                                   const std::vector<ClockOffset>& so_far) override {
    std::vector<std::size_t> out;
    if (std::none_of(so_far.begin(), so_far.end(),
                     [](const ClockOffset& o) { return o.fit == ClockFit::kAlone; }))
      return out;
    shared_.clear();
    for (const auto& [group, member] : stream_.rows_.groups_of(rank)) {
      shared_.insert(group);
      for (const GroupMember& m : stream_.rows_.groups()[group].members)
        if (so_far[m.rank].fit == ClockFit::kAlone)
          out.push_back(m.rank);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  const CollectiveEnds& ends(std::size_t rank, CollectiveEnds& room) override {
    const RankCollectives& r = stream_.rows_.ranks()[rank];
    room.rank = r.rank;
    room.ends.clear();
    for (const auto& [group, member] : stream_.rows_.groups_of(rank)) {
      if (shared_.count(group) == 0)
        continue;
      const GroupIndex& index = stream_.index_[group];
      const PackedRows rows = stream_.rows_.load(stream_.rows_.groups()[group].members[member]);
      const auto places = places_of(stream_.orders_[group], member, rows.rows);
      for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const std::size_t at = index.find(places[i]);
        const Collective& c = rows.rows[i];
        if (index.synchronises(at))
          room.ends.push_back(
              {first_id_[group] + at, r.base_time_ns + c.ts_ns, r.base_time_ns + c.end_ns()});
      }
    }
    std::ranges::sort(room.ends, {}, &SharedEnd::id);
    return room;
  }

private:
  const CollectiveStream& stream_;
  std::vector<std::size_t> first_id_; ///< by group
  std::set<std::size_t> shared_;      ///< groups of the rank in the last call of sharing()
};

/// The sums over all groups.
struct CollectiveStream::Sums {
  Sums(const CollectiveStream& stream)
      : summary(stream.per_node_, stream.options_.compat_tracelens),
        groups(stream.per_node_, stream.options_.compat_tracelens),
        sent(stream.options_.compat_tracelens), stragglers(stream.rows_.ranks().size()) {}
  SyncSummarySums summary;
  GroupSums groups;
  ExposedTypeSums exposed;
  SentSums sent;
  SlowCollectives slow;
  StepNumbers steps;
  StragglerSums stragglers;
  std::vector<AllToAllV> calls;
};

CollectiveStream::CollectiveStream(ByteStore& store, CollectiveOptions options,
                                   std::size_t window_rows)
    : rows_(store), options_(std::move(options)), window_rows_(window_rows) {}

Result<void> CollectiveStream::add(RankCollectives rank) {
  if (rows_.ranks().empty())
    per_node_ = gpus_per_node(options_.gpus_per_node, static_cast<std::int64_t>(rank.device_count));
  std::vector<RankSummary> more = rank_summary({&rank}, per_node_);
  std::move(more.begin(), more.end(), std::back_inserter(rank_summary_));
  return rows_.add(std::move(rank));
}

void CollectiveStream::order_groups(std::vector<CollectiveProblem>& problems) {
  KnownClocks clocks;
  for (const StoredGroup& group : rows_.groups())
    learn_clocks(StoredMembers(rows_, group), clocks);
  index_.resize(rows_.groups().size());
  for (std::size_t g = 0; g < rows_.groups().size(); ++g) {
    const StoredGroup& group = rows_.groups()[g];
    orders_.push_back(
        group_order(StoredMembers(rows_, group), group.pg, rows_.ranks(), clocks, problems));
    index_group(g, problems);
  }
}

void CollectiveStream::index_group(std::size_t group, std::vector<CollectiveProblem>& problems) {
  std::int64_t index = 0;
  std::optional<ListedMembers> listed;
  each_window(rows_, rows_.groups()[group], orders_[group], window_rows_,
              [&](std::vector<PlacedCollective> placed) {
                for (PlacedCollective& p : placed) {
                  const MatchedCollective m =
                      matched_collective(rows_.ranks(), rows_.groups()[group].name(), index++,
                                         std::move(p.rows), listed, problems);
                  index_[group].add(p.place, synchronises(m.kind));
                  synchronising_ += synchronises(m.kind) ? 1 : 0;
                  totals_.count_members(m);
                }
              });
}

void CollectiveStream::each_timed(std::size_t group, const UseTimed& use) {
  std::int64_t index = 0;
  std::optional<ListedMembers> listed;
  each_window(rows_, rows_.groups()[group], orders_[group], window_rows_,
              [&](std::vector<PlacedCollective> placed) {
                std::vector<CollectiveProblem> reported;
                std::vector<TimedCollective> out;
                out.reserve(placed.size());
                for (PlacedCollective& p : placed)
                  out.push_back(timed_collective(
                      rows_.ranks(),
                      matched_collective(rows_.ranks(), rows_.groups()[group].name(), index++,
                                         std::move(p.rows), listed, reported),
                      clocks_, options_.compat_tracelens));
                use(std::move(out));
              });
}

void CollectiveStream::keep_all_to_all_v(const TimedCollective& t, std::vector<AllToAllV>& calls) {
  AllToAllV call = all_to_all_v_of(rows_.ranks(), t, options_.compat_tracelens);
  TimedCollective& kept = all_to_all_v_.emplace_back();
  kept.match.pg = t.match.pg;
  kept.match.name_index = t.match.name_index;
  kept.match.index = t.match.index;
  kept.match.kind = t.match.kind;
  kept.id = t.id;
  kept.first_rank = t.first_rank;
  kept.first = &all_to_all_v_first_.emplace_back(*t.first);
  kept.end_skew_ns = t.end_skew_ns;
  call.timed = &kept;
  calls.push_back(call);
}

void CollectiveStream::sum_up(std::size_t group, const std::vector<TimedCollective>& timed,
                              Sums& sums) {
  for (const TimedCollective& t : timed) {
    index_[group].latest_start_ns.push_back(t.waits_known ? t.latest_start_ns
                                                          : GroupIndex::kUnknownStart);
    sums.summary.add(t);
    sums.groups.add(rows_.ranks(), t);
    sums.exposed.add(rows_.ranks(), t);
    if (t.match.kind == CollectiveKind::kAllToAllV)
      keep_all_to_all_v(t, sums.calls);
    if (options_.all_to_all_v_heatmap)
      sums.sent.add(rows_.ranks(), t);
    if (synchronises(t.match.kind))
      sums.slow.add(t);
    if (compares_ranks(t))
      sums.stragglers.add(rows_.ranks(), t, sums.steps.add(t));
  }
}

/// Returns whether a group name occurs again after groups with other names. ("Unknown_Group" is
/// also the name of groups without a name.)
bool CollectiveStream::names_return() const {
  std::set<std::string> seen;
  const std::string* last = nullptr;
  for (const StoredGroup& group : rows_.groups()) {
    if ((last == nullptr || *last != group.pg) && !seen.insert(group.pg).second)
      return true;
    last = &group.pg;
  }
  return false;
}

Result<CollectiveFacts> CollectiveStream::facts() {
  rows_.finish();
  const std::vector<RankCollectives>& ranks = rows_.ranks();
  if (rows_.rows() == 0)
    return Error{ErrorCode::kUnreadable, ranks.empty() ? "" : ranks.front().path,
                 "no collective kernel (nccl, rccl, cross_device_reduce, ...) in any rank", ""};
  CollectiveFacts out;
  order_groups(out.problems);
  std::vector<std::int64_t> numbers;
  for (const RankCollectives& r : ranks)
    numbers.push_back(r.rank);
  Ends ends(*this);
  out.offsets = align_clocks(numbers, ends);
  clocks_ = clocks_of(ranks, out.offsets, options_.align);
  Sums sums(*this);
  const bool keep_samples = names_return();
  for (std::size_t g = 0; g < rows_.groups().size(); ++g) {
    if (g > 0 && !keep_samples && rows_.groups()[g].pg != rows_.groups()[g - 1].pg) {
      sums.summary.settle();
      sums.groups.settle();
      sums.slow.settle();
    }
    each_timed(g, [&](const std::vector<TimedCollective>& timed) { sum_up(g, timed, sums); });
  }
  out.ranks = ranks;
  out.per_node = per_node_;
  out.compat_tracelens = options_.compat_tracelens;
  out.summary = sums.summary.take();
  out.rank_summary = std::move(rank_summary_);
  largest_first(out.rank_summary, [](const RankSummary& s) { return s.dur_us.sum; });
  out.a2av = std::move(sums.calls);
  out.a2av_summary = all_to_all_v_summary(out.a2av);
  largest_first(out.a2av, [](const AllToAllV& c) { return c.sent_mib; });
  out.a2av_sent = sums.sent.take();
  RS_CHECK(rows_.status()); // after a read error, the next pass could see different collectives
  out.stragglers = sums.stragglers.take(ranks, sums.steps.outside());
  for (const RankCollectives& r : ranks)
    out.exposed_ranks.push_back(
        {r.rank, r.comm_ns, r.exposed_ns, r.hidden_compute_ns, r.hidden_memcpy_ns});
  out.exposed_types = sums.exposed.take();
  out.groups = sums.groups.take();
  for (std::size_t r = 0; r < clocks_.alignment.size(); ++r)
    out.clocks.push_back({ranks[r].rank, ranks[r].base_time_ns, clocks_.alignment[r]});
  totals_.slow = sums.slow.take();
  out.totals = totals_;
  RS_CHECK(rows_.status());
  return out;
}

Result<void> CollectiveStream::each_kernel(
    const std::function<Result<void>(std::span<const CollectiveKernel>)>& use) {
  struct Found {
    std::size_t group = 0, index = 0;
  };
  for (std::size_t r = 0; r < rows_.ranks().size(); ++r) {
    std::vector<Collective> rows;
    std::vector<Found> found;
    for (const auto& [group, member] : rows_.groups_of(r))
      rows.resize(rows.size() + rows_.groups()[group].members[member].rows);
    found.resize(rows.size());
    for (const auto& [group, member] : rows_.groups_of(r)) {
      const PackedRows some = rows_.load(rows_.groups()[group].members[member]);
      const auto places = places_of(orders_[group], member, some.rows);
      for (std::size_t i = 0; i < some.rows.size(); ++i) {
        const std::uint64_t at = std::min<std::uint64_t>(some.in_file[i], rows.size() - 1);
        rows[at] = some.rows[i];
        found[at] = {group, index_[group].find(places[i])};
      }
    }
    RS_CHECK(rows_.status());
    for (std::size_t from = 0; from < rows.size(); from += kRowsAtOnce) {
      const std::size_t to = std::min(rows.size(), from + kRowsAtOnce);
      std::vector<TimedCollective> timed(to - from);
      std::vector<CollectiveKernel> kernels;
      for (std::size_t i = from; i < to; ++i) {
        const Collective& c = rows[i];
        TimedCollective& t = timed[i - from];
        t.match.pg = rows_.groups()[found[i].group].pg;
        t.match.name_index = rows_.groups()[found[i].group].name_index;
        t.match.index = static_cast<std::int64_t>(found[i].index);
        t.id = collective_id(t.match, c, options_.compat_tracelens);
        const std::int64_t latest = index_[found[i].group].latest_start_ns[found[i].index];
        t.waits_known = latest != GroupIndex::kUnknownStart;
        const std::int64_t wait = t.waits_known ? latest - clocks_.common(r, c.ts_ns) : 0;
        kernels.push_back({&rows_.ranks()[r], &c, &t, std::min(wait, c.dur_ns)});
      }
      RS_CHECK(use(kernels));
    }
  }
  return {};
}

Result<void> CollectiveStream::each_synchronising(
    const std::function<Result<void>(std::span<const SyncCollective>)>& use) {
  Result<void> result;
  for (std::size_t g = 0; g < rows_.groups().size() && result; ++g)
    each_timed(g, [&](const std::vector<TimedCollective>& timed) {
      std::vector<SyncCollective> some;
      for (const TimedCollective& t : timed) {
        if (synchronises(t.match.kind))
          some.push_back(sync_collective_of(rows_.ranks(), t));
        if (result && !some.empty() && (some.size() >= kRowsAtOnce || &t == &timed.back())) {
          result = use(some);
          some.clear();
        }
      }
    });
  RS_CHECK(rows_.status());
  return result;
}

} // namespace rankscope
