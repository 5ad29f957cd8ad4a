#include "analyses/job/job_run.h"

#include "base/units.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rankscope {
namespace {

/// The kernels of a rank that are collectives, by what the collective report knows them by.
std::map<std::pair<std::int64_t, std::int32_t>, NodeId> collective_nodes(const RankGraph& rank) {
  std::map<std::pair<std::int64_t, std::int32_t>, NodeId> out;
  for (NodeId n = 0; n < rank.nodes.size(); ++n)
    if (rank.activity(n).kind == ActivityKind::kCollective)
      out.emplace(std::pair(rank.nodes[n].start_ns,
                            static_cast<std::int32_t>(rank.lines[rank.nodes[n].line].id)),
                  n);
  return out;
}

class Join {
public:
  Join(std::vector<RankGraph> ranks, const CollectiveFacts* facts) : facts_(facts) {
    out_.ranks = std::move(ranks);
  }

  JobRun run() {
    set_steps();
    find_members();
    for (std::uint32_t r = 0; r < out_.ranks.size(); ++r)
      add_nodes(r);
    for (std::uint32_t r = 0; r < out_.ranks.size(); ++r)
      add_waits(r);
    add_transfers();
    out_.graph = builder_.built();
    number();
    return std::move(out_);
  }

private:
  void set_steps() {
    for (const RankGraph& rank : out_.ranks) {
      if (&rank == &out_.ranks.front()) {
        out_.step_numbers = rank.steps;
        continue;
      }
      std::vector<std::int64_t> both;
      std::set_intersection(out_.step_numbers.begin(), out_.step_numbers.end(), rank.steps.begin(),
                            rank.steps.end(), std::back_inserter(both));
      out_.step_numbers = std::move(both);
    }
  }

  /// Time on the common clock.
  [[nodiscard]] std::int64_t common(std::uint32_t r, std::int64_t ts_ns) const {
    if (out_.ranks.size() == 1)
      return ts_ns;
    const std::int64_t unix_ns = out_.ranks[r].base_time_ns + ts_ns;
    return facts_ == nullptr || r >= facts_->offsets.size()
               ? unix_ns
               : unix_ns - facts_->offsets[r].used().at(unix_ns);
  }

  void find_members() {
    transfer_of_.resize(out_.ranks.size());
    if (facts_ == nullptr || out_.ranks.size() < 2)
      return;
    std::vector<std::map<std::pair<std::int64_t, std::int32_t>, NodeId>> nodes;
    for (const RankGraph& rank : out_.ranks)
      nodes.push_back(collective_nodes(rank));
    for (std::size_t row = 0; row < facts_->collectives.size(); ++row) {
      const TimedCollective& c = facts_->collectives[row];
      if (c.match.members.size() < 2 || !synchronises(c.match.kind))
        continue;
      std::vector<std::pair<std::uint32_t, NodeId>> members;
      for (const auto& [rank, row] : c.match.members) {
        const Collective& kernel = facts_->ranks[rank].rows[row];
        const auto found = nodes[rank].find({kernel.ts_ns, kernel.stream});
        if (found != nodes[rank].end())
          members.emplace_back(static_cast<std::uint32_t>(rank), found->second);
      }
      if (members.size() < 2)
        continue;
      for (const auto& [rank, node] : members)
        transfer_of_[rank].emplace(node, kNoNode);
      groups_.push_back(std::move(members));
      out_.collectives.push_back({row, {}});
    }
  }

  void add_nodes(std::uint32_t r) {
    std::vector<NodeId>& first = first_.emplace_back();
    for (NodeId n = 0; n < out_.ranks[r].nodes.size(); ++n) {
      const RankNode& node = out_.ranks[r].nodes[n];
      const std::int64_t start = common(r, node.start_ns);
      const std::int64_t dur = common(r, node.start_ns + node.dur_ns) - start;
      const bool member = transfer_of_[r].count(n) != 0;
      first.push_back(
          add(r, n, start, member ? 0 : dur, member ? NodeRole::kArrival : NodeRole::kActivity));
    }
  }
  NodeId add(std::uint32_t r, NodeId local, std::int64_t start, std::int64_t dur, NodeRole role) {
    added_.push_back({r, local, role});
    return builder_.add(start, dur);
  }

  void add_waits(std::uint32_t r) {
    for (const RankWait& wait : out_.ranks[r].waits)
      waits_.push_back({r, wait});
  }

  /// A transfer begins when the last member has arrived.
  void add_transfers() {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const auto& members = groups_[k];
      std::int64_t last = INT64_MIN;
      std::pair<std::uint32_t, NodeId> latest;
      for (const auto& [r, n] : members)
        if (const std::int64_t start = common(r, out_.ranks[r].nodes[n].start_ns); start > last) {
          last = start;
          latest = {r, n};
        }
      const NodeId all = add(latest.first, latest.second, last, 0, NodeRole::kMeeting);
      for (const auto& [r, n] : members) {
        const RankNode& node = out_.ranks[r].nodes[n];
        const std::int64_t end = std::max(last, common(r, node.start_ns + node.dur_ns));
        const NodeId transfer = add(r, n, last, end - last, NodeRole::kActivity);
        transfer_of_[r][n] = transfer;
        out_.collectives[k].transfers.push_back(transfer);
        builder_.wait(all, first_[r][n], WaitKind::kMember);
        builder_.wait(transfer, first_[r][n], WaitKind::kStream);
        builder_.wait(transfer, all, WaitKind::kMember);
      }
    }
    for (const auto& [r, wait] : waits_) {
      const auto transfer = transfer_of_[r].find(wait.from);
      const NodeId from =
          transfer == transfer_of_[r].end() ? first_[r][wait.from] : transfer->second;
      builder_.wait(first_[r][wait.node], from, wait.kind, wait.lag_ns);
    }
  }

  void number() {
    const std::vector<NodeId>& numbers = builder_.numbers();
    for (JobCollective& collective : out_.collectives)
      for (NodeId& transfer : collective.transfers)
        transfer = numbers[transfer];
    out_.rank_of.resize(numbers.size());
    out_.local_of.resize(numbers.size());
    out_.role.resize(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      out_.rank_of[numbers[k]] = added_[k].rank;
      out_.local_of[numbers[k]] = added_[k].local;
      out_.role[numbers[k]] = added_[k].role;
    }
    out_.number_steps();
  }

  struct Added {
    std::uint32_t rank;
    NodeId local;
    NodeRole role;
  };
  const CollectiveFacts* facts_;
  JobRun out_;
  JobGraphBuilder builder_;
  std::vector<Added> added_;
  std::vector<std::vector<NodeId>> first_; ///< by rank and node there: its node in the builder
  std::vector<std::map<NodeId, NodeId>> transfer_of_; ///< by rank: of its matched collectives
  std::vector<std::vector<std::pair<std::uint32_t, NodeId>>> groups_;
  std::vector<std::pair<std::uint32_t, RankWait>> waits_;
};

} // namespace

void JobRun::number_steps() {
  std::vector<std::vector<std::uint32_t>> place; // by rank and row of its steps
  for (const RankGraph& rank : ranks) {
    std::vector<std::uint32_t>& of = place.emplace_back();
    for (const std::int64_t number : rank.steps) {
      const auto at = std::lower_bound(step_numbers.begin(), step_numbers.end(), number);
      of.push_back(static_cast<std::uint32_t>(
          std::min<std::size_t>(static_cast<std::size_t>(at - step_numbers.begin()),
                                std::max<std::size_t>(1, step_numbers.size()) - 1)));
    }
  }
  step_at.assign(graph.size(), 0);
  for (NodeId n = 0; n < graph.size(); ++n)
    if (const std::int32_t row = node(n).step; row >= 0)
      step_at[n] = place[rank_of[n]][static_cast<std::size_t>(row)];
}

JobRun join_ranks(std::vector<RankGraph> ranks, const CollectiveFacts* collectives) {
  return Join(std::move(ranks), collectives).run();
}

std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit) {
  const std::vector<std::int64_t> start = replay_starts(run.graph, edit);
  const bool apart = !run.step_begin_ns.empty();
  std::vector<std::int64_t> ends(run.steps(), 0);
  std::int64_t last = 0;
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    const std::int64_t end =
        start[n] + (edit.dur_ns.empty() ? run.graph.dur_ns(n) : edit.dur_ns[n]);
    last = std::max(last, end);
    if (apart || on_gpu(run.activity(n).kind)) {
      std::int64_t& of = ends[run.step_of(n)];
      of = std::max(of, end);
    }
  }
  if (apart)
    return ends;
  for (std::size_t k = 1; k < ends.size(); ++k)
    ends[k] = std::max(ends[k], ends[k - 1]);
  ends.back() = last;
  return ends;
}

CountedSteps::CountedSteps(const JobRun& run, const std::vector<PathPiece>& path)
    : steps_(run.steps()), begins_(run.step_begin_ns) {
  if (!begins_.empty())
    return;
  const std::vector<std::int64_t> now = step_ends(run, {});
  without_first_ = now.back() > now.front();
  for (const RankGraph& rank : run.ranks)
    single_begin_ = std::max(single_begin_, rank.early_until_ns);
  if (!path.empty() && path.front().first)
    single_begin_ = std::max(single_begin_, path.front().end_ns);
}

double CountedSteps::per_step_ms(std::int64_t ns) const {
  return ns_to_ms(ns) / static_cast<double>(counted());
}

std::int64_t CountedSteps::begin_ns(const std::vector<std::int64_t>& ends) const {
  if (!begins_.empty())
    return begins_.front();
  return without_first_ ? ends.front() : single_begin_;
}

double CountedSteps::mean_ms(const std::vector<std::int64_t>& ends) const {
  if (begins_.empty())
    return per_step_ms(ends.back() - begin_ns(ends));
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < ends.size(); ++k)
    sum += ends[k] - begins_[k];
  return per_step_ms(sum);
}

std::vector<double> CountedSteps::each_ms(const std::vector<std::int64_t>& ends) const {
  std::vector<double> out;
  for (std::size_t k = without_first_ ? 1 : 0; k < ends.size(); ++k)
    out.push_back(ns_to_ms(ends[k] - (!begins_.empty() ? begins_[k]
                                      : k == 0         ? single_begin_
                                                       : ends[k - 1])));
  return out;
}

} // namespace rankscope
