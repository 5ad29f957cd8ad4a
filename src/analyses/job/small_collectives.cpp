// Successive small collectives. Each pays a latency that one larger collective would pay only once.
#include "analyses/job/cause_candidates.h"
#include "base/sort.h"
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kFewestInRow = 8;
/// Least share of latency in a transfer for a collective to be small.
constexpr double kLatencyPart = 0.5;

/// A matched collective of a process group.
struct GroupCollective {
  const JobCollective* collective = nullptr;
  std::string_view name;
  double bytes = 0;
  std::int64_t start_ns = 0, transfer_ns = 0;
  std::size_t step = 0;
  double latency_ns = 0; ///< latency of its kind; 0: the collective is not small
};

/// Sets the latency of each kind. It is the transfer time minus the time for twice its bytes at the
/// best bandwidth of the group, because an all-reduce sends its data twice.
void set_latencies(std::vector<GroupCollective>& group) {
  std::map<std::pair<std::string_view, double>, std::vector<double>> transfers; // by name and bytes
  for (const GroupCollective& c : group)
    transfers[{c.name, c.bytes}].push_back(static_cast<double>(c.transfer_ns));
  std::map<std::pair<std::string_view, double>, double> median;
  double best = 0; // in bytes per ns
  for (auto& [kind, ns] : transfers) {
    const double usual = median[kind] = quantile_of(std::move(ns), 0.5);
    if (usual > 0)
      best = std::max(best, kind.second / usual);
  }
  if (best <= 0)
    return;
  for (GroupCollective& c : group) {
    const double usual = median[{c.name, c.bytes}];
    const double latency = usual - 2 * c.bytes / best;
    c.latency_ns = c.bytes > 0 && latency >= kLatencyPart * usual ? latency : 0;
  }
}

class SmallTransfersOf {
public:
  SmallTransfersOf(const JobRun& run, const CollectiveFacts& facts) : run_(run) {
    for (const JobCollective& c : run.collectives) {
      const TimedCollective& timed = facts.collectives[c.row];
      if (!synchronises(timed.match.kind) && timed.match.kind != CollectiveKind::kAllToAllV)
        continue;
      GroupCollective& to = groups_[{timed.match.pg, timed.match.name_index}].emplace_back();
      to.collective = &c;
      to.name = timed.first_rank->text(timed.first->name);
      to.bytes = std::isnan(timed.full_mib) ? 0 : timed.full_mib * 1024 * 1024;
      to.start_ns = run.graph.start_ns(c.transfers.front());
      to.step = run.step_of(c.transfers.front());
      for (const NodeId n : c.transfers)
        to.transfer_ns = std::max(to.transfer_ns, run.graph.dur_ns(n));
    }
  }

  std::vector<SmallTransfers> run() {
    for (auto& [name, group] : groups_) {
      set_latencies(group);
      sort_stably(group, {}, &GroupCollective::start_ns);
      std::vector<const GroupCollective*> row;
      for (const GroupCollective& c : group) {
        if (!row.empty() && !follows(*row.back(), c))
          finish(row);
        if (c.latency_ns > 0)
          row.push_back(&c);
      }
      finish(row);
    }
    return std::move(out_);
  }

private:
  /// Returns whether `c` continues the row: same name and step, and less other GPU work in between
  /// than a transfer.
  bool follows(const GroupCollective& before, const GroupCollective& c) {
    if (c.latency_ns <= 0 || c.name != before.name || c.step != before.step)
      return false;
    if (other_work_.empty())
      other_work_ = other_gpu_work(run_);
    const IntervalSet& other = other_work_[run_.rank_of[c.collective->transfers.front()]];
    return other.covered(before.start_ns, c.start_ns) < c.transfer_ns;
  }

  void finish(std::vector<const GroupCollective*>& row) {
    if (row.size() >= kFewestInRow) {
      SmallTransfers& to = out_.emplace_back();
      to.what = row.front()->name;
      for (const GroupCollective* c : row) {
        to.bytes = std::max<std::int64_t>(to.bytes, std::llround(c->bytes));
        to.transfers.push_back(c->collective->transfers);
        to.latency_ns.push_back(std::llround(c->latency_ns));
      }
    }
    row.clear();
  }

  const JobRun& run_;
  /// The collectives of each process group, by its name and its number among those of the name.
  std::map<std::pair<std::string_view, std::size_t>, std::vector<GroupCollective>> groups_;
  std::vector<IntervalSet> other_work_; ///< by rank; empty: not needed so far
  std::vector<SmallTransfers> out_;
};

/// Returns the host nodes between the launches of two successive collectives. Empty if they are
/// unknown or include other work than launching.
std::vector<NodeId> host_between(const JobRun& run, NodeId before, NodeId transfer) {
  constexpr std::size_t kMost = 64;
  const NodeId first = run.launch_of(before);
  std::vector<NodeId> out;
  for (NodeId n = run.launch_of(transfer); n != first; n = run.graph.waited(n, WaitKind::kHost)) {
    if (n == kNoNode || out.size() == kMost || run.graph.dur_ns(n) >= kStallNs)
      return {};
    out.push_back(n);
  }
  return out;
}

} // namespace

std::vector<SmallTransfers> small_transfers(const JobRun& run, const CollectiveFacts& facts) {
  return SmallTransfersOf(run, facts).run();
}

std::vector<CauseCandidate> small_collective_candidates(const CauseInput& in,
                                                        std::span<const SmallTransfers> rows) {
  const auto rank_of = [&in](NodeId n) { return in.run.rank_of[n]; };
  std::map<std::string, CauseCandidate> by_name;
  std::map<std::string, std::vector<double>> latencies;
  for (const SmallTransfers& row : rows) {
    CauseCandidate& c = by_name[row.what];
    c.cause.rule = CauseRule::kSmallCollectives;
    c.cause.what = row.what;
    c.cause.bytes = std::max(c.cause.bytes, row.bytes);
    for (std::size_t k = 0; k < row.transfers.size(); ++k) {
      latencies[row.what].push_back(static_cast<double>(row.latency_ns[k]) / 1e3);
      for (const NodeId n : row.transfers[k]) {
        c.nodes.push_back(n);
        if (k == 0)
          continue;
        c.durations.emplace_back(
            n, std::max<std::int64_t>(0, in.run.graph.dur_ns(n) - row.latency_ns[k]));
        const auto before = std::ranges::lower_bound( // members are in the order of ranks
            row.transfers[k - 1], in.run.rank_of[n], {}, rank_of);
        if (before != row.transfers[k - 1].end() && rank_of(*before) == in.run.rank_of[n])
          for (const NodeId host : host_between(in.run, *before, n))
            c.durations.emplace_back(host, 0);
      }
    }
  }
  std::vector<CauseCandidate> out;
  for (auto& [name, c] : by_name) {
    c.cause.ranks = in.run.rank_numbers(c.nodes);
    c.cause.latency_us = quantile_of(std::move(latencies[name]), 0.5);
    out.push_back(std::move(c));
  }
  return out;
}

} // namespace rankscope
