// Pauses of the host at changing places, for example for garbage collection.
#include "analyses/job/cause_candidates.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace rankscope {
namespace {

/// Returns the long nodes of a stretch of host code that are not usual at its place: all, if it is
/// in few steps of its ranks, else those that are much longer than the median.
std::vector<NodeId> pauses_of(const JobRun& run, const CauseCandidate& c) {
  constexpr double kLeastNs = 1e6, kMuchLonger = 5;
  const auto ns_of = [&run](NodeId n) { return static_cast<double>(run.graph.dur_ns(n)); };
  std::set<std::pair<std::uint32_t, std::size_t>> seen; // rank, step
  std::vector<double> ns;
  for (const NodeId n : c.nodes) {
    seen.emplace(run.rank_of[n], run.step_of(n));
    ns.push_back(ns_of(n));
  }
  const bool in_few_steps = 2 * seen.size() < run.steps() * c.cause.ranks.size();
  const double least =
      in_few_steps ? kLeastNs : std::max(kLeastNs, kMuchLonger * quantile_of(std::move(ns), 0.5));
  std::vector<NodeId> out;
  std::ranges::copy_if(c.nodes, std::back_inserter(out),
                       [&](NodeId n) { return ns_of(n) >= least; });
  return out;
}

/// Returns whether most of the durations are near their median.
bool are_alike(const std::vector<double>& durations) {
  constexpr double kAlike = 0.3, kMostOf = 0.8;
  const double usual = quantile_of(durations, 0.5);
  const auto alike = std::ranges::count_if(
      durations, [usual](double ns) { return std::abs(ns - usual) <= kAlike * usual; });
  return static_cast<double>(alike) >= kMostOf * static_cast<double>(durations.size());
}

} // namespace

void gather_pauses(const JobRun& run, std::vector<CauseCandidate>& candidates) {
  constexpr std::size_t kFewestPlaces = 3;
  CauseCandidate all;
  std::vector<double> durations;
  std::size_t places = 0;
  for (const CauseCandidate& c : candidates)
    if (c.cause.rule == CauseRule::kHostCode && !c.cause.call) {
      const std::vector<NodeId> pauses = pauses_of(run, c);
      places += pauses.empty() ? 0 : 1;
      for (const NodeId n : pauses) {
        all.add(n, 0);
        durations.push_back(static_cast<double>(run.graph.dur_ns(n)));
      }
    }
  if (places < kFewestPlaces || !are_alike(durations))
    return;
  std::ranges::sort(all.nodes);
  const auto is_pause = [&all](NodeId n) { return std::ranges::binary_search(all.nodes, n); };
  for (CauseCandidate& c : candidates)
    if (c.cause.rule == CauseRule::kHostCode) {
      std::erase_if(c.nodes, is_pause);
      std::erase_if(c.durations, [&](const auto& duration) { return is_pause(duration.first); });
    }
  std::erase_if(candidates, [](const CauseCandidate& c) { return c.nodes.empty(); });
  all.cause.rule = CauseRule::kCollection;
  all.cause.confidence = Confidence::kHint;
  all.cause.ranks = run.rank_numbers(all.nodes);
  candidates.push_back(std::move(all));
}

} // namespace rankscope
