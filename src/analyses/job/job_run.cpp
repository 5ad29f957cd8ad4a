#include "analyses/job/job_run.h"

#include "base/sort.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace rankscope {
namespace {

/// Returns the collective kernels of a rank by the key of the collective report: start and stream.
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
    reserve();
    for (std::uint32_t r = 0; r < out_.ranks.size(); ++r)
      add_nodes(r);
    add_transfers();
    add_waits();
    builder_.finish(out_, Trust::kTimes);
    for (JobCollective& collective : out_.collectives)
      for (NodeId& transfer : collective.transfers)
        transfer = builder_.numbers()[transfer];
    return std::move(out_);
  }

private:
  /// Takes the longest row of steps that all ranks have. The first of several steps does not count,
  /// so a row of one step also has the step before it, which only some ranks have.
  void set_steps() {
    const std::set<std::int64_t> all = steps_with_work();
    std::set<std::int64_t> common = all;
    for (const RankGraph& rank : out_.ranks) {
      const std::set<std::int64_t> steps = whole_steps(rank, all);
      std::erase_if(common, [&](std::int64_t number) { return !steps.contains(number); });
    }
    std::vector<std::int64_t>& numbers = out_.step_numbers;
    std::vector<std::int64_t> row;
    const auto end_row = [&] {
      if (row.size() >= numbers.size())
        numbers.swap(row);
      row.clear();
    };
    for (const std::int64_t number : all)
      if (common.contains(number))
        row.push_back(number);
      else
        end_row();
    end_row();
    if (numbers.size() == 1 && numbers.front() > *all.begin())
      numbers.insert(numbers.begin(), *std::prev(all.find(numbers.front())));
  }

  /// Returns the steps with GPU work on some rank. A window may end with a step that has just
  /// begun.
  [[nodiscard]] std::set<std::int64_t> steps_with_work() const {
    std::set<std::int64_t> out;
    for (const RankGraph& rank : out_.ranks) {
      std::vector<bool> works(rank.steps.size());
      for (NodeId n = 0; n < rank.nodes.size(); ++n)
        if (const std::int32_t row = rank.step_of[n]; row >= 0 && on_gpu(rank.activity(n).kind))
          works[static_cast<std::size_t>(row)] = true;
      for (std::size_t row = 0; row < works.size(); ++row)
        if (works[row])
          out.insert(rank.steps[row]);
    }
    return out;
  }

  /// Returns the steps of the rank. If it lacks one of `all` between two others, the work of that
  /// step is part of the step before, which is left out.
  [[nodiscard]] static std::set<std::int64_t> whole_steps(const RankGraph& rank,
                                                          const std::set<std::int64_t>& all) {
    std::set<std::int64_t> out;
    for (std::size_t k = 0; k < rank.steps.size(); ++k) {
      const auto next = all.upper_bound(rank.steps[k]);
      if (k + 1 == rank.steps.size() || next == all.end() || *next >= rank.steps[k + 1])
        out.insert(rank.steps[k]);
    }
    return out;
  }

  /// Returns the time on the common clock.
  [[nodiscard]] std::int64_t common(std::uint32_t r, std::int64_t ts_ns) const {
    if (out_.ranks.size() == 1)
      return ts_ns;
    const std::int64_t unix_ns = out_.ranks[r].base_time_ns + ts_ns;
    return facts_ == nullptr || r >= facts_->offsets.size()
               ? unix_ns
               : unix_ns - facts_->offsets[r].used().at(unix_ns);
  }

  /// Returns whether every member waits for all others. In an all-to-all with different amounts,
  /// each member waits for the data of the others.
  [[nodiscard]] static bool all_wait(const TimedCollective& c) {
    return synchronises(c.match.kind) || c.waits_known;
  }
  /// Returns whether members wait for others. A receive waits for its send, and the members of a
  /// broadcast wait for its root. If members are missing or unknown, it is unknown for which.
  [[nodiscard]] static bool joins(const TimedCollective& c) {
    return all_wait(c) || (c.match.expected > 0 && !c.match.incomplete());
  }

  /// Finds the receive that ends the longest time before its send starts. Ranks with aligned clocks
  /// leave a collective within kLeaveTogetherNs.
  void find_clock_conflict() {
    for (const TimedCollective& c : facts_->collectives) {
      if (!is_point_to_point(c.match.kind) || !joins(c))
        continue;
      std::int64_t sent = INT64_MIN, received = INT64_MAX;
      for (const auto& [rank, member] : c.match.members) {
        const Collective& kernel = facts_->ranks[rank].rows[member];
        const auto r = static_cast<std::uint32_t>(rank);
        if (kernel.kind == CollectiveKind::kSend)
          sent = std::max(sent, common(r, kernel.ts_ns));
        else
          received = std::min(received, common(r, kernel.end_ns()));
      }
      if (sent != INT64_MIN && received != INT64_MAX && sent - received > kLeaveTogetherNs)
        out_.clock_conflict_ns = std::max(out_.clock_conflict_ns, sent - received);
    }
  }

  void find_members() {
    transfer_of_.resize(out_.ranks.size());
    if (facts_ == nullptr || out_.ranks.size() < 2)
      return;
    std::vector<std::map<std::pair<std::int64_t, std::int32_t>, NodeId>> nodes;
    for (const RankGraph& rank : out_.ranks)
      nodes.push_back(collective_nodes(rank));
    find_clock_conflict();
    for (std::size_t row = 0; row < facts_->collectives.size(); ++row) {
      const TimedCollective& c = facts_->collectives[row];
      const bool pair = is_point_to_point(c.match.kind);
      if (c.match.members.size() < 2 || !joins(c) || (pair && out_.clock_conflict_ns > 0))
        continue;
      std::vector<std::pair<std::uint32_t, NodeId>> members;
      for (const auto& [rank, member] : c.match.members) {
        const Collective& kernel = facts_->ranks[rank].rows[member];
        const auto found = nodes[rank].find({kernel.ts_ns, kernel.stream});
        if (found != nodes[rank].end())
          members.emplace_back(static_cast<std::uint32_t>(rank), found->second);
      }
      if (members.size() < 2)
        continue;
      for (const auto& [rank, node] : members)
        transfer_of_[rank].emplace(node, kNoNode);
      const bool complete = !c.match.incomplete() && members.size() == c.match.members.size();
      groups_.push_back(std::move(members));
      out_.collectives.push_back(
          {row, std::isnan(c.bus_gbps) ? 0 : c.bus_gbps, {}, complete, all_wait(c), pair});
    }
  }

  void reserve() {
    std::size_t nodes = 0, waits = 0;
    for (const RankGraph& rank : out_.ranks) {
      nodes += rank.nodes.size();
      waits += rank.waits.size();
    }
    for (const auto& members : groups_) { // JobRunBuilder::transfer()
      nodes += members.size() + 1;
      waits += 3 * members.size();
    }
    builder_.reserve(nodes, waits);
  }

  void add_nodes(std::uint32_t r) {
    std::vector<NodeId>& first = first_.emplace_back();
    for (NodeId n = 0; n < out_.ranks[r].nodes.size(); ++n) {
      const RankNode& node = out_.ranks[r].nodes[n];
      const std::int64_t start = common(r, node.start_ns);
      const std::int64_t dur = common(r, node.start_ns + node.dur_ns) - start;
      const bool member = transfer_of_[r].count(n) != 0;
      first.push_back(builder_.add(r, n, start, member ? 0 : dur,
                                   member ? NodeRole::kArrival : NodeRole::kActivity));
    }
  }

  void add_transfers() {
    std::vector<JobRunBuilder::Member> members;
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      members.clear();
      for (const auto& [r, n] : groups_[k]) {
        const RankNode& node = out_.ranks[r].nodes[n];
        members.push_back(
            {first_[r][n], common(r, node.start_ns), common(r, node.start_ns + node.dur_ns)});
      }
      JobCollective& collective = out_.collectives[k];
      collective.transfers = builder_.transfer(members, 1, collective.together);
      const std::int64_t last =
          std::ranges::max_element(members, {}, &JobRunBuilder::Member::start_ns)->start_ns;
      collective.together =
          collective.together ||
          std::ranges::all_of(members, [last](const auto& m) { return m.end_ns > last; });
      for (std::size_t m = 0; m < groups_[k].size(); ++m)
        transfer_of_[groups_[k][m].first][groups_[k][m].second] = collective.transfers[m];
    }
  }

  void add_waits() {
    for (std::uint32_t r = 0; r < out_.ranks.size(); ++r) {
      for (const NodeWait& wait : out_.ranks[r].waits) {
        const auto transfer = transfer_of_[r].find(wait.from);
        const NodeId from =
            transfer == transfer_of_[r].end() ? first_[r][wait.from] : transfer->second;
        builder_.wait(first_[r][wait.node], from, wait.kind(), wait.lag_ns());
      }
      release(out_.ranks[r].waits); // the graph has them now
    }
    release(first_);
    release(transfer_of_);
    release(groups_);
  }

  const CollectiveFacts* facts_;
  JobRun out_;
  JobRunBuilder builder_;
  std::vector<std::vector<NodeId>> first_; ///< node in the builder, by rank and node of the rank
  std::vector<std::map<NodeId, NodeId>> transfer_of_; ///< transfers of matched collectives, by rank
  std::vector<std::vector<std::pair<std::uint32_t, NodeId>>> groups_;
};

/// Returns step_of() of each node.
std::vector<std::uint32_t> steps_of_nodes(const JobRun& run) {
  std::vector<std::vector<std::uint32_t>> place; // by rank and row of its steps
  for (const RankGraph& rank : run.ranks) {
    std::vector<std::uint32_t>& rows = place.emplace_back();
    for (const std::int64_t number : rank.steps) {
      const auto at = std::lower_bound(run.step_numbers.begin(), run.step_numbers.end(), number);
      rows.push_back(static_cast<std::uint32_t>(at - run.step_numbers.begin()));
    }
  }
  std::vector<std::uint32_t> out(run.graph.size(), 0);
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (const std::int32_t row = run.ranks[run.rank_of[n]].step_of[run.local_of[n]]; row >= 0)
      out[n] = place[run.rank_of[n]][static_cast<std::size_t>(row)];
  return out;
}

} // namespace

std::int64_t JobRun::operator_ns(NodeId n) const {
  const std::vector<std::uint32_t>& parts = ranks[rank_of[n]].operator_ns;
  const NodeId call = local_of[n] / 2;
  if (activity(n).kind != ActivityKind::kHost || call >= parts.size())
    return 0;
  const auto recorded = static_cast<double>(std::max<std::int64_t>(1, node(n).dur_ns));
  return std::llround(parts[call] * (static_cast<double>(graph.dur_ns(n)) / recorded));
}

std::vector<std::vector<NodeId>> JobRun::activities_by_rank() const {
  std::vector<std::vector<NodeId>> out(ranks.size());
  for (NodeId n = 0; n < graph.size(); ++n)
    if (is_activity(n))
      out[rank_of[n]].push_back(n);
  return out;
}

std::vector<std::int64_t> JobRun::rank_numbers(std::span<const NodeId> nodes) const {
  std::vector<bool> has(ranks.size());
  for (const NodeId n : nodes)
    has[rank_of[n]] = true;
  std::vector<std::int64_t> out;
  for (std::size_t r = 0; r < has.size(); ++r)
    if (has[r])
      out.push_back(ranks[r].rank);
  std::ranges::sort(out);
  return out;
}

NodeId JobRunBuilder::add(std::uint32_t rank, NodeId local, std::int64_t start_ns,
                          std::int64_t dur_ns, NodeRole role) {
  added_.push_back({rank, local, role});
  return graph_.add(start_ns, dur_ns);
}

std::vector<NodeId> JobRunBuilder::transfer(std::span<const Member> members,
                                            std::int64_t clock_error_ns, bool all_wait) {
  const auto start_of = [&members](std::size_t m) { return members[m].start_ns; };
  const auto order =
      stable_order(members.size(), [&](std::size_t a, std::size_t b) { // of the arrivals
        return start_of(a) < start_of(b);
      });
  std::map<std::size_t, std::vector<std::size_t>> meetings; // by number of arrivals: who waits
  for (std::size_t m = 0; m < members.size(); ++m) {
    const std::int64_t end = std::max(members[m].end_ns, members[m].start_ns + 1);
    const auto after = all_wait ? order.end() : std::ranges::lower_bound(order, end, {}, start_of);
    meetings[static_cast<std::size_t>(after - order.begin())].push_back(m);
  }
  std::vector<NodeId> out(members.size());
  NodeId before = kNoNode;
  auto arrived = order.begin();
  for (const auto& [count, waiting] : meetings) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    const std::int64_t start = start_of(*std::prev(end));
    const std::size_t latest = *std::ranges::lower_bound(order.begin(), end, start, {}, start_of);
    const Added last = added_[members[latest].arrival];
    const NodeId meeting = add(last.rank, last.local, start, 0, NodeRole::kMeeting);
    if (before != kNoNode)
      wait(meeting, before, WaitKind::kMember);
    for (; arrived != end; ++arrived)
      wait(meeting, members[*arrived].arrival, WaitKind::kMember);
    for (const std::size_t m : waiting) {
      const std::int64_t dur = members[m].end_ns - start;
      const Added added = added_[members[m].arrival];
      out[m] = add(added.rank, added.local, start, dur <= -clock_error_ns ? 0 : dur,
                   NodeRole::kActivity);
      wait(out[m], members[m].arrival, WaitKind::kStream);
      wait(out[m], meeting, WaitKind::kMember);
    }
    before = meeting;
  }
  return out;
}

void JobRunBuilder::finish(JobRun& run, Trust trust) {
  run.graph = graph_.built(trust);
  run.rank_of.resize(added_.size());
  run.local_of.resize(added_.size());
  run.role.resize(added_.size());
  for (std::size_t k = 0; k < added_.size(); ++k) {
    const NodeId n = numbers()[k];
    run.rank_of[n] = added_[k].rank;
    run.local_of[n] = added_[k].local;
    run.role[n] = added_[k].role;
  }
  release(added_);
  run.step_at = steps_of_nodes(run);
  for (RankGraph& rank : run.ranks)
    release(rank.step_of);
  run.gpu_work.resize(run.graph.size());
  for (NodeId n = 0; n < run.graph.size(); ++n)
    run.gpu_work[n] = on_gpu(run.activity(n).kind);
}

JobRun join_ranks(std::vector<RankGraph> ranks, const CollectiveFacts* collectives) {
  return Join(std::move(ranks), collectives).run();
}

std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit) {
  return step_ends(run, edit, replay_starts(run.graph, edit));
}

std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit,
                                    std::span<const std::int64_t> start) {
  const bool apart = !run.step_begin_ns.empty();
  std::vector<std::int64_t> ends(run.steps(), 0);
  std::int64_t last = 0;
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!run.in_steps(n))
      continue;
    const std::int64_t end = start[n] + edit.duration(run.graph, n);
    last = std::max(last, end);
    if (apart || run.gpu_work[n]) {
      std::int64_t& step_end = ends[run.step_of(n)];
      step_end = std::max(step_end, end);
    }
  }
  if (apart)
    return ends;
  for (std::size_t k = 1; k < ends.size(); ++k)
    ends[k] = std::max(ends[k], ends[k - 1]);
  ends.back() = last;
  return ends;
}

} // namespace rankscope
