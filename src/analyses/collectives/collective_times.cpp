#include "analyses/collectives/collective_times.h"

#include "analyses/collectives/collective_sums.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace rankscope {
namespace {

/// Returns whether members of this kind wait for each other. In a send, a receive or a broadcast,
/// only some members may wait. For kernels of unknown kind, returns false because this is not
/// known.
bool makes_wait(CollectiveKind kind) {
  return synchronises(kind) || kind == CollectiveKind::kAllToAllV ||
         kind == CollectiveKind::kBarrier;
}

} // namespace

Clocks clocks_of(std::span<const RankCollectives> ranks, const std::vector<ClockOffset>& offsets,
                 AlignMode align) {
  Clocks out;
  out.base_ns.assign(ranks.size(), 0);
  if (align == AlignMode::kNone)
    return out;
  std::int64_t lowest_base = INT64_MAX;
  for (const RankCollectives& r : ranks)
    lowest_base = std::min(lowest_base, r.base_time_ns);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    out.base_ns[r] = ranks[r].base_time_ns - lowest_base;
    out.unix_ns.push_back(ranks[r].base_time_ns);
  }
  if (align == AlignMode::kCollectives && ranks.size() > 1)
    out.alignment = offsets;
  return out;
}

std::string collective_id(const MatchedCollective& match, const Collective& member,
                          bool compat_tracelens) {
  // kEveryCollective of as_reference(), a group that no trace names
  if (compat_tracelens && match.pg == kEveryCollective && member.group_size == kNoId &&
      member.pg_ranks == kEmptyStr)
    return std::to_string(match.index);
  std::string group = match.pg;
  if (match.name_index > 0)
    group += fmt::format("~{}", match.name_index + 1);
  if (member.of_pair()) {
    const auto number = [](std::int64_t rank) {
      return rank == kNoId ? std::string("?") : std::to_string(rank);
    };
    group += fmt::format("_{}->{}", number(member.src_rank), number(member.dst_rank));
  }
  return fmt::format("{}_{}", group, match.index);
}

TimedCollective timed_collective(const std::vector<RankCollectives>& ranks, MatchedCollective match,
                                 const Clocks& clocks, bool compat_tracelens) {
  TimedCollective t;
  std::int64_t min_end = INT64_MAX;
  std::int64_t max_end = INT64_MIN;
  t.latest_start_ns = INT64_MIN;
  t.latency_ns = INT64_MAX;
  t.start_ns.reserve(match.members.size());
  t.end_ns.reserve(match.members.size());
  t.wait_ns.reserve(match.members.size());
  for (const auto& [rank, row] : match.members) {
    const Collective& c = ranks[rank].rows[row];
    const std::int64_t start = clocks.common(rank, c.ts_ns);
    t.start_ns.push_back(start);
    t.end_ns.push_back(start + c.dur_ns);
    t.latest_start_ns = std::max(t.latest_start_ns, start);
    t.latency_ns = std::min(t.latency_ns, c.dur_ns);
    min_end = std::min(min_end, t.end_ns.back());
    max_end = std::max(max_end, t.end_ns.back());
  }
  t.end_skew_ns = max_end - min_end;
  for (const std::int64_t s : t.start_ns)
    t.wait_ns.push_back(t.latest_start_ns - s);
  t.first_rank = &ranks[match.members.front().first];
  t.first = &t.first_rank->rows[match.members.front().second];
  t.full_mib =
      mib_of(*t.first_rank, *t.first,
             match.kind == CollectiveKind::kAllGather ? t.first->out_nelems : t.first->in_nelems);
  t.algo_gbps = t.bus_gbps = std::numeric_limits<double>::quiet_NaN();
  t.waits_known = compat_tracelens || (!match.incomplete() && makes_wait(match.kind));
  const bool transfers = !match.incomplete() && (!t.first->of_pair() || t.first->knows_pair());
  if (t.latency_ns > 0 && (compat_tracelens || transfers)) {
    const double gibps = (t.full_mib / 1024) / ns_to_s(t.latency_ns);
    const double scale = compat_tracelens ? 1.0 : kGib;
    t.algo_gbps = gibps * scale;
    const std::int64_t members =
        t.first->group_size < 1 && !compat_tracelens ? match.expected : t.first->group_size;
    if (members > 0 || compat_tracelens)
      t.bus_gbps = gibps * bus_bandwidth_factor(match.kind, members) * scale;
  }
  t.id = collective_id(match, *t.first, compat_tracelens);
  t.match = std::move(match);
  return t;
}

} // namespace rankscope
