#include "analyses/watch/watch_window.h"

#include "analyses/collectives/collective_sums.h"
#include "base/rank_excess.h"
#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

/// A trace may contain only a part of its first and last step. In these steps, a collective counts
/// as missed by a rank only if the other ranks waited in the collective for at least this time.
constexpr std::int64_t kStuckNs = 1'000'000'000;

std::string what_of(const TimedCollective& t) {
  return fmt::format("{} {} x {}, group {}", t.first_rank->text(t.first->name),
                     t.first_rank->text(t.first->dtype), t.first->in_nelems, t.match.pg);
}

std::vector<WatchedBandwidth> bandwidths_of(const CollectiveFacts& facts) {
  std::map<std::string, std::map<std::int64_t, std::vector<double>>> by_step;
  for (const SyncCollective& s : facts.synchronising)
    if (const TimedCollective& t = *s.timed; std::isfinite(t.bus_gbps) && t.bus_gbps > 0)
      by_step[what_of(t)][t.first->step].push_back(t.bus_gbps);
  std::vector<WatchedBandwidth> out;
  for (const auto& [what, steps] : by_step) {
    WatchedBandwidth row{what, {}};
    if (steps.size() == 1)
      row.gbps = steps.begin()->second;
    else
      for (const auto& [step, samples] : steps)
        row.gbps.push_back(sample_stats(samples).mean);
    out.push_back(std::move(row));
  }
  return out;
}

/// Returns the mean over the collectives, weighted by transfer time. Small collectives take much
/// of the number of collectives, but little of the time.
double mean_bandwidth(const CollectiveFacts& facts) {
  double sum = 0;
  double weight = 0;
  for (const SyncCollective& s : facts.synchronising)
    if (const TimedCollective& t = *s.timed; std::isfinite(t.bus_gbps) && t.bus_gbps > 0) {
      sum += t.bus_gbps * static_cast<double>(t.latency_ns);
      weight += static_cast<double>(t.latency_ns);
    }
  return weight > 0 ? sum / weight : 0;
}

/// The steps that each rank recorded, ascending.
using Recorded = std::map<std::int64_t, std::vector<std::int64_t>>;

/// Returns the members that a collective should have; empty if unknown.
std::vector<std::int64_t> members_of(const TimedCollective& t, const Recorded& ranks) {
  if (t.first->knows_pair())
    return {t.first->src_rank, t.first->dst_rank};
  const std::string_view list = t.first_rank->text(t.first->pg_ranks);
  if (list.find("...") == std::string_view::npos)
    if (std::vector<std::int64_t> listed = numbers_in(list); !listed.empty())
      return listed;
  std::vector<std::int64_t> all;
  if (t.match.expected == static_cast<std::int64_t>(ranks.size()))
    for (const auto& [rank, steps] : ranks)
      all.push_back(rank);
  return all;
}

/// Sums of the exposed time that the other members of its collectives wait for each rank: the
/// median exposed time of the other members minus the exposed time of the rank. Hidden waiting does
/// not delay a step, and a rank that stays late through several hidden collectives is counted once.
///
/// Example: a rank of four is 2 ms late in two collectives. The first is hidden on all ranks. In
/// the second, the exposed time is 3 ms on the others and 1 ms on this rank: 0 + 2 = 2 ms.
std::map<std::int64_t, double> exposed_waits_ms(const CollectiveFacts& facts) {
  StepNumbers numbers;
  std::vector<std::pair<const TimedCollective*, std::size_t>> compared;
  for (const TimedCollective& t : facts.collectives)
    if (compares_ranks(t))
      compared.emplace_back(&t, numbers.add(t));
  std::map<std::int64_t, double> out;
  for (const auto& [t, step] : compared) {
    if (step == numbers.outside())
      continue;
    std::vector<double> exposed_ms;
    for (const auto& [rank, row] : t->match.members) {
      const Collective& c = facts.ranks[rank].rows[row];
      exposed_ms.push_back(ns_to_ms(c.dur_ns - c.hidden_compute_ns - c.hidden_memcpy_ns));
    }
    const MedianOfOthers others(exposed_ms);
    for (std::size_t k = 0; k < exposed_ms.size(); ++k)
      out[facts.ranks[t->match.members[k].first].rank] +=
          others.without(exposed_ms[k]) - exposed_ms[k];
  }
  return out;
}

class WatchWindowGaps {
public:
  WatchWindowGaps(const Recorded& ranks, const CollectiveFacts& facts)
      : ranks_(ranks), facts_(facts) {}

  std::vector<WatchedGap> operator()() {
    for (const TimedCollective& t : facts_.collectives)
      if (t.match.incomplete() && t.first->step >= 0)
        add_gap(t);
    std::vector<WatchedGap> out;
    for (auto& [group, gap] : gaps_)
      out.push_back(std::move(gap.second));
    return out;
  }

private:
  void add_gap(const TimedCollective& t) {
    const std::int64_t step = t.first->step;
    std::vector<std::int64_t> entered;
    for (const auto& [rank, row] : t.match.members)
      entered.push_back(facts_.ranks[rank].rank);
    std::vector<std::int64_t> absent;
    for (const std::int64_t rank : members_of(t, ranks_)) {
      const auto found = ranks_.find(rank);
      if (found == ranks_.end() || std::binary_search(entered.begin(), entered.end(), rank))
        continue;
      const std::vector<std::int64_t>& steps = found->second;
      if (!std::binary_search(steps.begin(), steps.end(), step))
        continue; // the rank recorded another window
      const bool inner = step != steps.front() && step != steps.back();
      if (inner || t.latency_ns >= kStuckNs)
        absent.push_back(rank);
    }
    if (absent.empty())
      return;
    auto& [start, gap] = gaps_[t.match.pg];
    if (gap.collectives++ > 0 && start <= t.latest_start_ns)
      return;
    start = t.latest_start_ns;
    gap.group = t.match.pg;
    gap.name = t.first_rank->text(t.first->name);
    gap.where = fmt::format("in step {}", step);
    gap.entered = std::move(entered);
    std::sort(absent.begin(), absent.end());
    gap.absent = std::move(absent);
  }

  const Recorded& ranks_;
  const CollectiveFacts& facts_;
  /// The first gap of each group, with its start.
  std::map<std::string, std::pair<std::int64_t, WatchedGap>> gaps_;
};

} // namespace

WatchWindow watch_window(std::vector<WatchedRank> ranks, std::string label) {
  WatchWindow out;
  out.label = std::move(label);
  out.ranks = ranks.size();
  std::vector<RankCollectives> collectives;
  std::int64_t comm_ns = 0;
  std::int64_t exposed_ns = 0;
  std::vector<double> step_ms;
  Recorded recorded;
  for (WatchedRank& rank : ranks) {
    comm_ns += rank.collectives.comm_ns;
    exposed_ns += rank.collectives.exposed_ns;
    if (rank.step_ms > 0)
      step_ms.push_back(rank.step_ms);
    recorded[rank.collectives.rank] = std::move(rank.steps);
    collectives.push_back(std::move(rank.collectives));
  }
  out.step_ms = sample_stats(step_ms).mean;
  if (comm_ns > 0)
    out.exposed_percent = percent_of(exposed_ns, comm_ns, kNaN);
  const Result<CollectiveFacts> facts = collective_facts(collectives, {});
  if (!facts)
    return out; // no rank has collectives
  const std::map<std::int64_t, double> waits_ms = exposed_waits_ms(*facts);
  for (const Straggler& s : facts->stragglers)
    if (!s.late_us.empty())
      out.lateness.push_back({s.rank, s.late_us,
                              out.step_ms > 0 ? std::optional(waits_ms.at(s.rank) /
                                                              static_cast<double>(s.late_us.size()))
                                              : std::nullopt});
  std::ranges::sort(out.lateness, [](const auto& a, const auto& b) { return a.rank < b.rank; });
  out.bandwidths = bandwidths_of(*facts);
  out.bus_gbps = mean_bandwidth(*facts);
  out.gaps = WatchWindowGaps(recorded, *facts)();
  return out;
}

WatchedWindow summary_of(const WatchWindow& window, std::size_t number, std::size_t known) {
  WatchedWindow out;
  out.label = window.label;
  out.number = number;
  out.ranks = window.ranks;
  out.known_ranks = known;
  out.step_ms = window.step_ms;
  out.bus_gbps = window.bus_gbps;
  for (const WatchedLateness& row : window.lateness)
    if (const double mean = sample_stats(row.late_us).mean;
        !out.latest_rank || mean > out.late_us) {
      out.latest_rank = row.rank;
      out.late_us = mean;
    }
  return out;
}

} // namespace rankscope
