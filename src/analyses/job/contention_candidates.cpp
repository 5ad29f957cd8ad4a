// GEMMs that take longer while a collective runs on their GPU.
#include "analyses/job/cause_candidates.h"
#include "base/interval_set.h"
#include "base/statistics.h"
#include "model/kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr double kContentionAlpha = 0.01;
constexpr double kLeastContention = 0.01; ///< least contention, as a fraction of the overlap
constexpr std::size_t kFewestClusters = 4;
/// Least variation of overlap: sum of squares over all GEMMs.
constexpr double kLeastVariation = 0.01;

/// A GEMM with times in units of the mean time at its place.
struct OverlappedGemm {
  NodeId node = kNoNode;
  std::uint32_t place = 0;   ///< place on its rank, the same in each step
  std::uint32_t cluster = 0; ///< rank and step
  double time = 0;
  double overlap = 0;       ///< time in which collectives run
  double overlapped_ns = 0; ///< the same in ns, as measured
  double expected = 0;      ///< time in which collectives would run if the GEMM took the mean time
};

/// Estimates contention. A GEMM that takes w without overlap takes t = w + slope * overlap. While a
/// collective runs, it is slower by slope / (1 - slope). Places and steps have fixed effects. The
/// overlap grows with t, so `expected` is its instrument (two-stage least squares). Errors are
/// clustered by rank and step.
class Contention {
public:
  Contention(const CauseInput& in, const CountedSteps& clock,
             std::span<const std::vector<NodeId>> nodes)
      : run_(in.run), clock_(clock) {
    for (std::uint32_t r = 0; r < run_.ranks.size(); ++r)
      add_rank(r, nodes[r]);
  }

  std::vector<CauseCandidate> run() {
    remove_places();
    remove_steps();
    double variation = 0, zx = 0, zy = 0;
    for (const OverlappedGemm& g : gemms_) {
      variation += g.expected * g.expected;
      zx += g.expected * g.overlap;
      zy += g.expected * g.time;
    }
    if (variation < kLeastVariation || !(zx > 0))
      return {};
    const double slope = zy / zx;
    std::map<std::uint32_t, double> scores;
    for (const OverlappedGemm& g : gemms_)
      scores[g.cluster] += g.expected * (g.time - slope * g.overlap);
    if (scores.size() < kFewestClusters)
      return {};
    double squares = 0;
    for (const auto& [cluster, score] : scores)
      squares += score * score;
    const auto clusters = static_cast<double>(scores.size());
    const double half = student_t(clusters - 1, kContentionAlpha) *
                        std::sqrt(squares * clusters / (clusters - 1)) / zx;
    if (!(slope - half > kLeastContention) || !(slope + half < 1))
      return {};
    return {candidate(slope, half)};
  }

private:
  void add_rank(std::uint32_t r, const std::vector<NodeId>& nodes) {
    const RankGraph& rank = run_.ranks[r];
    std::vector<Interval> running;
    for (const RankNode& node : rank.nodes)
      if (rank.activities[node.activity].kind == ActivityKind::kCollective)
        running.push_back({node.start_ns, node.start_ns + node.dur_ns});
    if (running.empty())
      return;
    const IntervalSet collectives(std::move(running));
    std::vector<bool> gemm(rank.activities.size());
    for (std::size_t a = 0; a < gemm.size(); ++a)
      gemm[a] = rank.activities[a].kind == ActivityKind::kKernel &&
                is_gemm_kernel(rank.text(rank.activities[a].name));
    const std::size_t begin = gemms_.size();
    std::unordered_map<std::uint64_t, std::uint32_t> seen;   // by step and activity
    std::unordered_map<std::uint64_t, std::uint32_t> places; // by activity and index in its step
    for (const NodeId n : nodes) {
      const RankNode& node = run_.node(n);
      if (!gemm[node.activity] || node.dur_ns <= 0 || !clock_.counts(run_.step_of(n)))
        continue;
      const std::uint64_t step = run_.step_of(n);
      const std::uint64_t which = seen[step << 32U | node.activity]++;
      OverlappedGemm& g = gemms_.emplace_back();
      g.node = n;
      g.place = static_cast<std::uint32_t>(
          mean_ns_.size() +
          places.emplace(which << 32U | node.activity, static_cast<std::uint32_t>(places.size()))
              .first->second);
      g.cluster = static_cast<std::uint32_t>(r * run_.steps() + step);
    }
    mean_ns_.resize(mean_ns_.size() + places.size());
    count_.resize(mean_ns_.size());
    for (std::size_t k = begin; k < gemms_.size(); ++k) {
      mean_ns_[gemms_[k].place] += static_cast<double>(run_.node(gemms_[k].node).dur_ns);
      ++count_[gemms_[k].place];
    }
    for (std::size_t k = begin; k < gemms_.size(); ++k) {
      OverlappedGemm& g = gemms_[k];
      const RankNode& node = run_.node(g.node);
      const double mean = mean_ns_[g.place] / static_cast<double>(count_[g.place]);
      const auto covered = [&](std::int64_t ns) {
        return static_cast<double>(collectives.covered(node.start_ns, node.start_ns + ns)) / mean;
      };
      g.time = static_cast<double>(node.dur_ns) / mean;
      g.overlap = covered(node.dur_ns);
      g.expected = covered(std::llround(mean));
      g.overlapped_ns = g.overlap * mean;
    }
  }

  void remove_places() {
    for (double OverlappedGemm::*value :
         {&OverlappedGemm::time, &OverlappedGemm::overlap, &OverlappedGemm::expected}) {
      std::vector<double> mean(mean_ns_.size());
      for (const OverlappedGemm& g : gemms_)
        mean[g.place] += g.*value / static_cast<double>(count_[g.place]);
      for (OverlappedGemm& g : gemms_)
        g.*value -= mean[g.place];
    }
  }

  /// Subtracts the mean excess of the GEMMs without overlap in the same step and rank.
  void remove_steps() {
    constexpr std::size_t kFewestAlone = 5;
    std::map<std::uint32_t, std::pair<double, std::size_t>> alone;
    for (const OverlappedGemm& g : gemms_)
      if (!(g.overlapped_ns > 0)) {
        alone[g.cluster].first += g.time;
        ++alone[g.cluster].second;
      }
    for (OverlappedGemm& g : gemms_)
      if (const auto at = alone.find(g.cluster);
          at != alone.end() && at->second.second >= kFewestAlone)
        g.time -= at->second.first / static_cast<double>(at->second.second);
  }

  [[nodiscard]] CauseCandidate candidate(double slope, double half) const {
    CauseCandidate c;
    c.cause.rule = CauseRule::kContention;
    c.cause.kind = GainKind::kAtMost;
    c.cause.what = "GEMMs";
    const auto percent = [](double s) { return 100 * s / (1 - s); };
    c.cause.percent = percent(slope);
    c.cause.percent_low = percent(slope - half);
    c.cause.percent_high = percent(slope + half);
    for (const OverlappedGemm& g : gemms_)
      if (g.overlapped_ns > 0)
        c.add(g.node, run_.graph.dur_ns(g.node) - std::llround(slope * g.overlapped_ns));
    c.cause.ranks = run_.rank_numbers(c.nodes);
    return c;
  }

  const JobRun& run_;
  const CountedSteps& clock_;
  std::vector<OverlappedGemm> gemms_;
  std::vector<double> mean_ns_; ///< sum of the times, by place
  std::vector<std::size_t> count_;
};

} // namespace

std::vector<CauseCandidate> contention_candidates(const CauseInput& in, const CountedSteps& clock,
                                                  std::span<const std::vector<NodeId>> nodes) {
  return Contention(in, clock, nodes).run();
}

} // namespace rankscope
