#include "analyses/job/exposed.h"

#include <algorithm>

namespace rankscope {
namespace {

/// A collective of one rank, from the rank's arrival on.
struct ExposedPiece {
  std::int64_t arrival_ns = 0, transfer_ns = 0, end_ns = 0;
  std::uint32_t last = 0; ///< the rank that arrives last
  bool complete = false;  ///< all members are in the run
  bool pair = false;      ///< a send or a receive
};

ExposedPiece piece_of(const JobRun& run, NodeId n) {
  ExposedPiece out;
  out.arrival_ns = out.transfer_ns = run.graph.start_ns(n);
  out.end_ns = run.graph.end_ns(n);
  const NodeId arrival = run.waited(n, NodeRole::kArrival);
  out.complete = arrival != kNoNode;
  if (out.complete)
    out.arrival_ns = run.graph.start_ns(arrival);
  if (const NodeId meeting = run.waited(n, NodeRole::kMeeting); meeting != kNoNode)
    out.last = run.rank_of[meeting];
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
  std::vector<std::int64_t> wait_for(run.ranks.size(), 0);
  for (std::size_t r = 0; r < pieces.size(); ++r) {
    const IntervalSet& other = others[r];
    std::ranges::sort(pieces[r], {}, &ExposedPiece::arrival_ns);
    std::int64_t until = INT64_MIN;
    const auto exposed = [&](std::int64_t from, std::int64_t to) {
      from = std::max(from, until);
      return from < to ? to - from - other.covered(from, to) : 0;
    };
    for (const ExposedPiece& p : pieces[r]) {
      const std::int64_t before = exposed(p.arrival_ns, p.transfer_ns);
      wait += before;
      pair_wait += p.pair ? before : 0;
      wait_for[p.last] += before;
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
      out.wait_for.emplace_back(run.ranks[r].rank, ms(wait_for[r]));
  std::ranges::stable_sort(out.wait_for,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

} // namespace rankscope
