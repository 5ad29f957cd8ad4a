// Combines the results of collective_sums.h and collective_times.h.
#include "analyses/collectives/collective_facts.h"

#include "analyses/collectives/collective_sums.h"
#include "analyses/collectives/collective_times.h"
#include "base/units.h"

#include <algorithm>

namespace rankscope {

double SyncCollective::mean_wait_us() const {
  return ns_to_us(wait_ns) / static_cast<double>(timed->wait_ns.size());
}

Result<CollectiveFacts> collective_facts(const std::vector<RankCollectives>& ranks,
                                         const CollectiveOptions& options) {
  if (std::all_of(ranks.begin(), ranks.end(), [](const auto& r) { return r.rows.empty(); }))
    return Error{ErrorCode::kUnreadable, ranks.empty() ? "" : ranks.front().path,
                 "no collective kernel (nccl, rccl, cross_device_reduce, ...) in any rank", ""};
  const bool compat = options.compat_tracelens;
  const std::int64_t per_node =
      gpus_per_node(options.gpus_per_node, static_cast<std::int64_t>(ranks.front().device_count));
  MatchResult matched = match_collectives(ranks);
  CollectiveFacts out;
  out.offsets = align_clocks(collective_ends(ranks, matched.collectives));
  const Clocks clocks = clocks_of(ranks, out.offsets, options.align);
  out.ranks = ranks;
  out.per_node = per_node;
  out.compat_tracelens = compat;
  out.problems = std::move(matched.problems);
  out.collectives.reserve(matched.collectives.size());
  for (MatchedCollective& m : matched.collectives)
    out.collectives.push_back(timed_collective(ranks, std::move(m), clocks, compat));
  std::vector<const RankCollectives*> all;
  for (const RankCollectives& r : ranks)
    all.push_back(&r);
  out.summary = sync_summary(out.collectives, per_node, compat);
  out.rank_summary = rank_summary(all, per_node);
  out.a2av = all_to_all_v(ranks, out.collectives, compat);
  out.a2av_summary = all_to_all_v_summary(out.a2av);
  largest_first(out.a2av, [](const AllToAllV& c) { return c.sent_mib; });
  if (options.all_to_all_v_heatmap)
    out.a2av_sent = all_to_all_v_sent(ranks, out.collectives, compat);
  out.kernels = collective_kernels(ranks, out.collectives);
  out.synchronising = synchronising(ranks, out.collectives);
  out.stragglers = stragglers(ranks, out.collectives);
  for (const RankCollectives& r : ranks)
    out.exposed_ranks.push_back(
        {r.rank, r.comm_ns, r.exposed_ns, r.hidden_compute_ns, r.hidden_memcpy_ns});
  out.exposed_types = exposed_types(ranks, out.collectives);
  out.groups = process_groups(ranks, out.collectives, per_node, compat);
  for (std::size_t r = 0; r < clocks.alignment.size(); ++r)
    out.clocks.push_back({ranks[r].rank, ranks[r].base_time_ns, clocks.alignment[r]});
  for (const TimedCollective& t : out.collectives)
    out.totals.count_members(t.match);
  SlowCollectives slow;
  for (const SyncCollective& s : out.synchronising)
    slow.add(*s.timed);
  out.totals.slow = slow.take();
  return out;
}

} // namespace rankscope
