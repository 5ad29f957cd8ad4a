// Durations that vary among the ranks from step to step, while no rank is slow in all steps. Each
// collective waits for another rank.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/places.h"

#include <algorithm>
#include <vector>

namespace rankscope {
namespace {

/// The activities of one kind, with the excess of each rank over the mean in each step.
class Jitter {
public:
  Jitter(const JobRun& run, const char* what) : run_(run) {
    out_.cause.rule = CauseRule::kJitter;
    out_.cause.what = what;
    out_.exact = true;
    for (const RankGraph& rank : run.ranks)
      out_.cause.ranks.push_back(rank.rank);
    excess_ns_.assign(run.steps(), std::vector<std::int64_t>(run.ranks.size(), 0));
  }

  void add(NodeId n, std::int64_t mean_ns) {
    const std::int64_t more_ns = run_.graph.dur_ns(n) - mean_ns;
    out_.durations.emplace_back(n, mean_ns);
    if (more_ns > 0)
      out_.nodes.push_back(n);
    excess_ns_[run_.step_of(n)][run_.rank_of[n]] += more_ns;
  }

  /// Returns the candidate. Empty if one rank is the slowest in more than half of the counted
  /// steps.
  std::optional<CauseCandidate> candidate(const CountedSteps& clock) {
    std::vector<std::size_t> slowest(run_.ranks.size(), 0);
    for (std::size_t step = 0; step < excess_ns_.size(); ++step)
      if (clock.counts(step)) {
        const std::vector<std::int64_t>& excess_ns = excess_ns_[step];
        ++slowest[static_cast<std::size_t>(std::ranges::max_element(excess_ns) -
                                           excess_ns.begin())];
      }
    out_.cause.latest_steps = std::ranges::max(slowest);
    if (2 * out_.cause.latest_steps > clock.counted())
      return std::nullopt;
    return std::move(out_);
  }

private:
  const JobRun& run_;
  CauseCandidate out_;
  std::vector<std::vector<std::int64_t>> excess_ns_; ///< by step and rank
};

} // namespace

std::vector<CauseCandidate> jitter_candidates(const JobRun& run, const CountedSteps& clock,
                                              const PlaceNodes& places) {
  Jitter kernels(run, "kernels"), host(run, "the host");
  struct StepSum {
    std::int64_t ns = 0, nodes = 0;
  };
  std::vector<StepSum> steps(run.steps());
  for (std::uint32_t place = 0; place < places.count(); ++place) {
    const std::span<const NodeId> nodes = places.at(place);
    const ActivityKind kind = run.activity(nodes.front()).kind;
    if (kind == ActivityKind::kCollective)
      continue;
    std::ranges::fill(steps, StepSum{});
    for (const NodeId n : nodes) {
      if (!run.in_steps(n))
        continue;
      StepSum& step = steps[run.step_of(n)];
      step.ns += run.graph.dur_ns(n);
      ++step.nodes;
    }
    for (const NodeId n : nodes) {
      if (!run.in_steps(n))
        continue;
      const StepSum& step = steps[run.step_of(n)];
      if (2 * step.nodes > static_cast<std::int64_t>(run.ranks.size()))
        (on_gpu(kind) ? kernels : host).add(n, step.ns / step.nodes);
    }
  }
  std::vector<CauseCandidate> out;
  for (Jitter* const jitter : {&kernels, &host})
    if (std::optional<CauseCandidate> c = jitter->candidate(clock))
      out.push_back(std::move(*c));
  return out;
}

} // namespace rankscope
