#include "analyses/job/exposed.h"

#include "base/sort.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace rankscope {
namespace {

/// A collective of one rank, from the rank's arrival on.
struct ExposedPiece {
  std::int64_t arrival_ns = 0, transfer_ns = 0, end_ns = 0;
  std::uint32_t last = 0; ///< the rank that arrives last
  /// The time by which that rank begins its first step later; 0: not later, or unknown.
  std::int64_t later_start_ns = 0;
  bool complete = false; ///< all members are in the run
  bool pair = false;     ///< a send or a receive
};

/// Returns the begin of the first recorded step of the node's rank on the common clock; nullopt
/// without steps. `n`: an arrival or a meeting, which is when the event of its rank begins.
std::optional<std::int64_t> recorded_from(const JobRun& run, NodeId n) {
  const std::vector<std::int64_t>& begins = run.ranks[run.rank_of[n]].step_begin_ns;
  if (begins.empty())
    return std::nullopt;
  return begins.front() + run.graph.start_ns(n) - run.node(n).start_ns;
}

ExposedPiece piece_of(const JobRun& run, NodeId n) {
  ExposedPiece out;
  out.arrival_ns = out.transfer_ns = run.graph.start_ns(n);
  out.end_ns = run.graph.end_ns(n);
  const NodeId arrival = run.waited(n, NodeRole::kArrival);
  out.complete = arrival != kNoNode;
  if (out.complete)
    out.arrival_ns = run.graph.start_ns(arrival);
  const NodeId meeting = run.waited(n, NodeRole::kMeeting);
  if (meeting == kNoNode)
    return out;
  out.last = run.rank_of[meeting];
  if (out.complete) {
    const auto own = recorded_from(run, arrival), others = recorded_from(run, meeting);
    if (own && others)
      out.later_start_ns = std::max<std::int64_t>(0, *others - *own);
  }
  return out;
}

} // namespace

std::vector<IntervalSet> other_gpu_work(const JobRun& run) {
  std::vector<std::vector<Interval>> work(run.ranks.size());
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.is_activity(n) && run.gpu_work[n] && run.activity(n).kind != ActivityKind::kCollective)
      work[run.rank_of[n]].push_back({run.graph.start_ns(n), run.graph.end_ns(n)});
  std::vector<IntervalSet> out;
  for (std::vector<Interval>& rank_work : work)
    out.emplace_back(std::move(rank_work));
  return out;
}

ExposedTime exposed_time(const JobRun& run, const CountedSteps& clock) {
  std::vector<bool> incomplete(run.graph.size());
  std::vector<bool> pair(run.graph.size());
  for (const JobCollective& c : run.collectives)
    for (const NodeId n : c.transfers) {
      incomplete[n] = !c.complete;
      pair[n] = c.pair;
    }
  std::vector<std::vector<ExposedPiece>> pieces(run.ranks.size());
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.is_activity(n) && run.activity(n).kind == ActivityKind::kCollective &&
        clock.counts(run.step_of(n))) {
      ExposedPiece piece = piece_of(run, n);
      piece.complete = piece.complete && !incomplete[n];
      piece.pair = pair[n];
      pieces[run.rank_of[n]].push_back(piece);
    }
  const std::vector<IntervalSet> others = other_gpu_work(run);
  std::int64_t wait = 0, pair_wait = 0, transfer = 0, unmatched = 0;
  std::vector<std::int64_t> wait_for(run.ranks.size(), 0), start_wait_for(wait_for);
  const bool from_start = clock.first() == 0; // the first collectives of the recording count
  for (std::size_t r = 0; r < pieces.size(); ++r) {
    const IntervalSet& other = others[r];
    std::ranges::sort(pieces[r], {}, &ExposedPiece::arrival_ns);
    std::int64_t until = INT64_MIN;
    bool first = from_start;
    const auto exposed = [&](std::int64_t from, std::int64_t to) {
      from = std::max(from, until);
      return from < to ? to - from - other.covered(from, to) : 0;
    };
    for (const ExposedPiece& p : pieces[r]) {
      const std::int64_t before = exposed(p.arrival_ns, p.transfer_ns);
      wait += before;
      pair_wait += p.pair ? before : 0;
      wait_for[p.last] += before;
      if (p.complete && std::exchange(first, false))
        start_wait_for[p.last] += std::min(before, p.later_start_ns);
      (p.complete ? transfer : unmatched) += exposed(p.transfer_ns, p.end_ns);
      until = std::max(until, p.end_ns);
    }
  }
  const auto ms = [&](std::int64_t ns) {
    return clock.per_step_ms(ns) / static_cast<double>(run.ranks.size());
  };
  ExposedTime out{ms(wait), ms(pair_wait), ms(transfer), ms(unmatched), {}};
  for (std::size_t r = 0; r < wait_for.size(); ++r)
    if (wait_for[r] > 0)
      out.wait_for.push_back({run.ranks[r].rank, ms(wait_for[r]), ms(start_wait_for[r])});
  sort_stably(out.wait_for, std::greater<>(), &RankWait::ms);
  return out;
}

} // namespace rankscope
