// Transfers that are slower than others of their kind and size: all transfers of a process group,
// or a single one.
#include "analyses/collectives/slow_links.h"
#include "analyses/job/cause_candidates.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace rankscope {

std::vector<SlowTransfers> slow_transfers(const JobRun& run, const CollectiveFacts& facts) {
  std::vector<SlowTransfers> out;
  if (const std::optional<SlowCollective>& single = facts.totals.slow)
    for (const JobCollective& collective : run.collectives)
      if (facts.collectives[collective.row].id == single->id) {
        SlowTransfers& slow = out.emplace_back();
        slow.single = true;
        slow.what = single->name;
        slow.gbps = single->bus_gbps;
        slow.usual_gbps = single->usual_gbps;
        slow.others = single->others;
        slow.nodes = collective.transfers;
        slow.ranks = run.rank_numbers(slow.nodes);
      }
  for (const SlowGroup& group : slow_groups(facts.summary)) {
    SlowTransfers slow;
    slow.what = group.row->name;
    slow.gbps = group.bus_gbps;
    slow.usual_gbps = group.usual_gbps;
    slow.others = group.others;
    for (const JobCollective& collective : run.collectives) {
      const TimedCollective& timed = facts.collectives[collective.row];
      if (timed.match.pg != group.row->group || timed.first->in_nelems != group.row->in_nelems ||
          timed.first_rank->text(timed.first->name) != group.row->name ||
          timed.first_rank->text(timed.first->dtype) != group.row->dtype)
        continue;
      slow.nodes.insert(slow.nodes.end(), collective.transfers.begin(), collective.transfers.end());
    }
    slow.ranks = run.rank_numbers(slow.nodes);
    if (!slow.nodes.empty())
      out.push_back(std::move(slow));
  }
  return out;
}

std::vector<CauseCandidate> link_candidates(const CauseInput& in,
                                            std::span<const SlowTransfers> transfers) {
  std::vector<CauseCandidate> out;
  if (transfers.empty())
    return out;
  std::unordered_map<NodeId, double> gbps_of; // without the collectives of unknown bandwidth
  for (const JobCollective& collective : in.run.collectives)
    if (collective.bus_gbps > 0)
      for (const NodeId n : collective.transfers)
        gbps_of.emplace(n, collective.bus_gbps);
  for (const SlowTransfers& slow : transfers) {
    CauseCandidate& c = out.emplace_back();
    c.cause.rule = slow.single ? CauseRule::kSlowCollective : CauseRule::kSlowLink;
    c.cause.ranks = slow.ranks;
    c.cause.what = slow.what;
    for (const NodeId n : slow.nodes)
      if (in.run.ranks[in.run.rank_of[n]].rank == slow.ranks.front())
        c.counted.push_back(n);
    c.cause.rate = slow.gbps;
    c.cause.rate_to = slow.usual_gbps;
    c.cause.others = slow.others;
    if (!slow.single)
      c.cause.groups = {slow.ranks};
    c.nodes = slow.nodes;
    for (const NodeId n : slow.nodes) { // some of a group's transfers may be as fast as usual
      const auto own = gbps_of.find(n);
      const double part = own == gbps_of.end() ? 1 : std::min(1.0, own->second / slow.usual_gbps);
      c.durations.emplace_back(n, std::llround(static_cast<double>(in.run.graph.dur_ns(n)) * part));
    }
  }
  return out;
}

} // namespace rankscope
