// Handmade runs with known times, for hand-calculated results on a job graph.
#pragma once

#include "analyses/job/counted_steps.h"

#include <algorithm>
#include <vector>

namespace rankscope::test {

struct HandActivity {
  ActivityKind kind = ActivityKind::kKernel;
  const char* name = "";
  const char *op = "", *context = "", *shapes = "", *types = "";
};

/// All ranks have the same activities, one of them a collective, on one stream.
class HandMadeRun {
public:
  HandMadeRun(std::size_t ranks, const std::vector<HandActivity>& activities) : run_() {
    for (std::size_t r = 0; r < ranks; ++r) {
      RankGraph& rank = run_.ranks.emplace_back();
      rank.rank = static_cast<std::int64_t>(r);
      rank.lines.push_back({true, 7, 0});
      for (const HandActivity& activity : activities)
        rank.activities.push_back(
            {activity.kind, rank.texts.intern(activity.name), rank.texts.intern(activity.op),
             rank.texts.intern(activity.context), rank.texts.intern(activity.shapes),
             rank.texts.intern(activity.types)});
    }
    collective_ = static_cast<std::uint32_t>(
        std::ranges::find(activities, ActivityKind::kCollective, &HandActivity::kind) -
        activities.begin());
  }

  /// Begins a step; what is added later belongs to it. `begins`: its begin by rank, if known.
  void begin_step(std::int64_t number, const std::vector<std::int64_t>& begins = {}) {
    run_.step_numbers.push_back(number);
    for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
      run_.ranks[r].steps.push_back(number);
      if (!begins.empty())
        run_.ranks[r].step_begin_ns.push_back(begins[r]);
    }
  }
  /// `activity`: index in the list.
  NodeId add(std::uint32_t rank, std::uint32_t activity, std::int64_t start, std::int64_t dur,
             NodeRole role = NodeRole::kActivity) {
    RankGraph& to = run_.ranks[rank];
    to.nodes.push_back({start, dur, activity, 0});
    to.step_of.push_back(static_cast<std::int32_t>(to.steps.size()) - 1);
    return builder_.add(rank, static_cast<NodeId>(to.nodes.size() - 1), start,
                        role == NodeRole::kArrival ? 0 : dur, role);
  }
  /// The same, after another node.
  NodeId add_after(NodeId before, std::uint32_t rank, std::uint32_t activity, std::int64_t start,
                   std::int64_t dur, NodeRole role = NodeRole::kActivity) {
    const NodeId n = add(rank, activity, start, dur, role);
    builder_.wait(n, before, WaitKind::kStream);
    return n;
  }
  void wait(NodeId n, NodeId before, WaitKind kind) { builder_.wait(n, before, kind); }
  /// Adds a collective whose other members were not read.
  void alone(std::uint32_t rank, std::int64_t start, std::int64_t dur) {
    add(rank, collective_, start, dur);
  }
  /// Adds a matched collective: member m is on rank m, after after[m]. Returns the transfers.
  /// `complete`: it has no other members.
  std::vector<NodeId> collective(const std::vector<std::int64_t>& starts, std::int64_t end,
                                 const std::vector<NodeId>& after = {}, bool complete = true) {
    std::vector<JobRunBuilder::Member> members;
    for (std::uint32_t r = 0; r < starts.size(); ++r) {
      const std::int64_t dur = end - starts[r];
      const NodeId arrival =
          after.empty() ? add(r, collective_, starts[r], dur, NodeRole::kArrival)
                        : add_after(after[r], r, collective_, starts[r], dur, NodeRole::kArrival);
      members.push_back({arrival, starts[r], end});
    }
    run_.collectives.push_back({0, 0, builder_.transfer(members, 1), complete});
    return run_.collectives.back().transfers;
  }
  /// Returns the run; nothing may be added afterwards.
  JobRun finish() {
    builder_.finish(run_, Trust::kTimes);
    for (JobCollective& c : run_.collectives)
      for (NodeId& transfer : c.transfers)
        transfer = builder_.numbers()[transfer];
    return std::move(run_);
  }

private:
  JobRun run_;
  JobRunBuilder builder_;
  std::uint32_t collective_ = 0;
};

/// Of the measured run.
inline CountedSteps counted_steps(const JobRun& run) {
  return {run, critical_path(run.graph), step_ends(run, {})};
}

} // namespace rankscope::test
