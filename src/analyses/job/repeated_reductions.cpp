// Gradients that are reduced after each of several backward passes of a step. One reduction of the
// accumulated gradients has the same result.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/training_passes.h"
#include "model/bus_bandwidth.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

/// The backward passes and the work of the optimizer of one rank, by their launches. The host
/// launches the forward and the backward passes alternately.
struct RankPasses {
  std::vector<std::pair<std::int64_t, bool>> launches; ///< time, part of a backward pass
  std::vector<std::int64_t> begins;                    ///< of the backward passes
  std::vector<std::int64_t> optimizer;                 ///< launches of the optimizer
};

/// Returns the passes of the ranks of these transfers. Visits the graph once.
std::map<std::uint32_t, RankPasses> passes_of(const JobRun& run,
                                              std::span<const JobCollective* const> reductions) {
  std::map<std::uint32_t, RankPasses> out;
  for (const JobCollective* const c : reductions)
    out.try_emplace(run.rank_of[c->transfers.front()]);
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!run.is_activity(n) || !run.gpu_work[n])
      continue;
    const auto rank_passes = out.find(run.rank_of[n]);
    const NodeId host = rank_passes == out.end() ? kNoNode : run.graph.waited(n, WaitKind::kLaunch);
    if (host == kNoNode)
      continue;
    const Activity& a = run.activity(n);
    const std::string_view context = run.text(n, a.context);
    const bool backward = in_backward_pass(context);
    if (in_optimizer_step(context))
      rank_passes->second.optimizer.push_back(run.graph.end_ns(host));
    else if (backward || only_in_forward_pass(run.text(n, a.op)))
      rank_passes->second.launches.emplace_back(run.graph.end_ns(host), backward);
  }
  for (auto& [rank, passes] : out) {
    std::ranges::sort(passes.launches);
    std::ranges::sort(passes.optimizer);
    for (std::size_t k = 0; k < passes.launches.size(); ++k)
      if (passes.launches[k].second && (k == 0 || !passes.launches[k - 1].second))
        passes.begins.push_back(passes.launches[k].first);
  }
  return out;
}

/// Returns the number of these times, ascending, until then.
std::size_t count_until(const std::vector<std::int64_t>& times, std::int64_t until) {
  return static_cast<std::size_t>(std::ranges::upper_bound(times, until) - times.begin());
}

struct Reduction {
  std::string_view name;
  double mib = 0;
  const JobCollective* collective = nullptr;
};

} // namespace

std::vector<RepeatedReductions> repeated_reductions(const JobRun& run,
                                                    const CollectiveFacts& facts) {
  // In a pipeline, the backward passes of a rank can be those of different stages.
  if (std::ranges::any_of(facts.collectives,
                          [](const TimedCollective& c) { return is_point_to_point(c.match.kind); }))
    return {};
  const auto name_of = [&facts](const JobCollective& c) {
    const TimedCollective& timed = facts.collectives[c.row];
    return timed.first_rank->text(timed.first->name);
  };
  std::vector<const JobCollective*> reductions;
  for (const JobCollective& c : run.collectives)
    if (const NodeId n = c.transfers.front();
        collective_kind(name_of(c)) == CollectiveKind::kAllReduce &&
        in_gradient_hook(run.text(n, run.activity(n).context)))
      reductions.push_back(&c);
  if (reductions.empty())
    return {};
  // The reductions of each backward pass by group (name, number among those of the name), step, and
  // launches of the optimizer before them: after an update, the gradients are different ones.
  using Key = std::tuple<std::string_view, std::size_t, std::size_t, std::size_t>;
  std::map<Key, std::map<std::size_t, std::vector<Reduction>>> groups;
  const std::map<std::uint32_t, RankPasses> passes = passes_of(run, reductions);
  for (const JobCollective* const c : reductions) {
    const TimedCollective& timed = facts.collectives[c->row];
    const NodeId n = c->transfers.front();
    const NodeId host = run.launch_of(n);
    const std::int64_t launch = host == kNoNode ? INT64_MIN : run.graph.end_ns(host);
    const RankPasses& rank_passes = passes.at(run.rank_of[n]);
    groups[{timed.match.pg, timed.match.name_index, run.step_of(n),
            count_until(rank_passes.optimizer, launch)}][count_until(rank_passes.begins, launch)]
        .push_back({name_of(*c), timed.full_mib, c});
  }
  std::map<std::string_view, RepeatedReductions> by_name;
  for (auto& [key, by_pass] : groups) {
    const std::vector<Reduction>& last = by_pass.rbegin()->second;
    const auto equal = [](const Reduction& a, const Reduction& b) {
      return a.name == b.name && a.mib == b.mib;
    };
    for (auto pass = by_pass.begin(); pass->first != by_pass.rbegin()->first; ++pass) {
      if (!std::ranges::equal(pass->second, last, equal))
        continue;
      RepeatedReductions& to = by_name[last.front().name];
      to.what = last.front().name;
      to.passes = std::max(to.passes, by_pass.size());
      for (const Reduction& r : pass->second)
        to.transfers.insert(to.transfers.end(), r.collective->transfers.begin(),
                            r.collective->transfers.end());
    }
  }
  std::vector<RepeatedReductions> out;
  for (auto& [name, repeated] : by_name)
    out.push_back(std::move(repeated));
  return out;
}

std::vector<CauseCandidate>
repeated_reduction_candidates(const CauseInput& in,
                              std::span<const RepeatedReductions> reductions) {
  std::vector<CauseCandidate> out;
  for (const RepeatedReductions& repeated : reductions) {
    CauseCandidate& c = out.emplace_back();
    c.cause.rule = CauseRule::kRepeatedReduction;
    c.cause.what = repeated.what;
    c.cause.others = repeated.passes;
    for (const NodeId n : repeated.transfers) {
      c.add(n, 0);
      c.unblocked.push_back(n);
    }
    c.cause.ranks = in.run.rank_numbers(c.nodes);
  }
  return out;
}

} // namespace rankscope
