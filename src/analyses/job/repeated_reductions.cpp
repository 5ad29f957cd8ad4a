// Gradients that are reduced after each of several backward passes of a step. One reduction of the
// accumulated gradients has the same result.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/training_passes.h"
#include "model/bus_bandwidth.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

/// The backward passes and the work of the optimizer of one rank. The host launches the forward and
/// the backward passes alternately.
class BackwardPasses {
public:
  BackwardPasses(const JobRun& run, std::uint32_t rank) : run_(run) {
    std::vector<std::pair<std::int64_t, bool>> launches; // launch, part of a backward pass
    for (NodeId n = 0; n < run.graph.size(); ++n)
      if (run.rank_of[n] == rank && run.is_activity(n) && run.gpu_work[n])
        if (const NodeId host = run.graph.waited(n, WaitKind::kLaunch); host != kNoNode) {
          const Activity& a = run.activity(n);
          const std::string_view context = run.text(n, a.context);
          const bool backward = in_backward_pass(context);
          if (context.starts_with("Optimizer.step"))
            optimizer_.push_back(run.graph.end_ns(host));
          else if (backward || only_in_forward_pass(run.text(n, a.op)))
            launches.emplace_back(run.graph.end_ns(host), backward);
        }
    std::ranges::sort(launches);
    std::ranges::sort(optimizer_);
    for (std::size_t k = 0; k < launches.size(); ++k)
      if (launches[k].second && (k == 0 || !launches[k - 1].second))
        begins_.push_back(launches[k].first);
  }
  struct Place {
    std::size_t pass = 0;      ///< number of backward passes that begin until the launch
    std::size_t optimizer = 0; ///< number of launches of the optimizer until then
  };
  [[nodiscard]] Place place_of(NodeId transfer) const {
    const NodeId arrival = run_.waited(transfer, NodeRole::kArrival);
    const NodeId host =
        arrival == kNoNode ? kNoNode : run_.graph.waited(arrival, WaitKind::kLaunch);
    if (host == kNoNode)
      return {};
    const auto until = [launch = run_.graph.end_ns(host)](const std::vector<std::int64_t>& times) {
      return static_cast<std::size_t>(std::ranges::upper_bound(times, launch) - times.begin());
    };
    return {until(begins_), until(optimizer_)};
  }

private:
  const JobRun& run_;
  std::vector<std::int64_t> begins_, optimizer_;
};

struct Reduction {
  std::string_view name;
  double mib = 0;
  const JobCollective* of = nullptr;
};

} // namespace

std::vector<RepeatedReductions> repeated_reductions(const JobRun& run,
                                                    const CollectiveFacts& facts) {
  // In a pipeline, the backward passes of a rank can be those of different stages.
  if (std::ranges::any_of(facts.collectives, [](const TimedCollective& c) {
        return c.match.kind == CollectiveKind::kSend || c.match.kind == CollectiveKind::kRecv;
      }))
    return {};
  // The reductions of each backward pass by group (name, number among those of the name), step, and
  // launches of the optimizer before them: after an update, the gradients are different ones.
  using Key = std::tuple<std::string_view, std::size_t, std::size_t, std::size_t>;
  std::map<Key, std::map<std::size_t, std::vector<Reduction>>> groups;
  std::map<std::uint32_t, BackwardPasses> passes;
  for (const JobCollective& c : run.collectives) {
    const TimedCollective& timed = facts.collectives[c.row];
    const NodeId n = c.transfers.front();
    const std::string_view name = timed.first_rank->text(timed.first->name);
    if (collective_kind(name) != CollectiveKind::kAllReduce ||
        !in_gradient_hook(run.text(n, run.activity(n).context)))
      continue;
    const std::uint32_t rank = run.rank_of[n];
    const BackwardPasses& of_rank = passes.try_emplace(rank, run, rank).first->second;
    const BackwardPasses::Place place = of_rank.place_of(n);
    groups[{timed.match.pg, timed.match.twin, run.step_of(n), place.optimizer}][place.pass]
        .push_back({name, timed.full_mib, &c});
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
        to.transfers.insert(to.transfers.end(), r.of->transfers.begin(), r.of->transfers.end());
    }
  }
  std::vector<RepeatedReductions> out;
  for (auto& [name, of] : by_name)
    out.push_back(std::move(of));
  return out;
}

std::vector<CauseCandidate> repeated_reduction_candidates(const CauseInput& in,
                                                          std::span<const RepeatedReductions> of) {
  std::vector<CauseCandidate> out;
  for (const RepeatedReductions& repeated : of) {
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
