#include "analyses/job/contention.h"

#include "analyses/job/cause_candidates.h"
#include "base/interval_set.h"
#include "base/statistics.h"
#include "model/kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr double kContentionAlpha = 0.01;
constexpr double kLeastContention = 0.01; ///< least contention, as a fraction of the overlap
constexpr std::size_t kFewestClusters = 4;
constexpr double kFewestAlone = 5; ///< GEMMs without overlap, for the mean of a step
/// Least variation of overlap: sum of squares over all GEMMs.
constexpr double kLeastVariation = 0.01;

/// A GEMM with times in units of the mean time at its place.
struct PlacedGemm {
  std::uint32_t place = 0;   ///< place on its rank, the same in each step
  std::uint32_t cluster = 0; ///< rank and step
  bool alone = false;        ///< no collective runs
  double time = 0;
  double overlap = 0;  ///< time in which collectives run
  double expected = 0; ///< time in which collectives would run if the GEMM took the mean time
};

/// The estimate of the slope, from the GEMMs in the counted steps.
class Slope {
public:
  Slope(const JobRun& run, const CountedSteps& clock) : run_(run), clock_(clock) {}

  /// `collectives`: times in which collectives run on the rank.
  void add_rank(std::uint32_t r, std::span<const Contention::Overlapped> gemms,
                const IntervalSet& collectives) {
    const std::size_t begin = gemms_.size();
    std::unordered_map<std::uint64_t, std::uint32_t> seen;   // by step and activity
    std::unordered_map<std::uint64_t, std::uint32_t> places; // by activity and index in its step
    std::vector<const RankNode*> nodes;
    for (const Contention::Overlapped& gemm : gemms) {
      const RankNode& node = run_.node(gemm.node);
      const std::uint64_t step = run_.step_of(gemm.node);
      if (node.dur_ns <= 0 || !clock_.counts(step))
        continue;
      const std::uint64_t which = seen[step << 32U | node.activity]++;
      PlacedGemm& g = gemms_.emplace_back();
      g.place = static_cast<std::uint32_t>(
          mean_ns_.size() +
          places.emplace(which << 32U | node.activity, static_cast<std::uint32_t>(places.size()))
              .first->second);
      g.cluster = static_cast<std::uint32_t>(r * run_.steps() + step);
      g.alone = gemm.overlap_ns == 0;
      nodes.push_back(&node);
    }
    mean_ns_.resize(mean_ns_.size() + places.size());
    count_.resize(mean_ns_.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      mean_ns_[gemms_[begin + k].place] += static_cast<double>(nodes[k]->dur_ns);
      ++count_[gemms_[begin + k].place];
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      PlacedGemm& g = gemms_[begin + k];
      const RankNode& node = *nodes[k];
      const double mean = mean_ns_[g.place] / static_cast<double>(count_[g.place]);
      const auto covered = [&](std::int64_t ns) {
        return static_cast<double>(collectives.covered(node.start_ns, node.start_ns + ns)) / mean;
      };
      g.time = static_cast<double>(node.dur_ns) / mean;
      g.overlap = covered(node.dur_ns);
      g.expected = covered(std::llround(mean));
    }
  }

  /// Returns the slope and half the width of its interval; empty if there is no contention, or if
  /// it cannot be estimated.
  std::optional<std::pair<double, double>> estimate() {
    remove_places();
    remove_steps();
    double variation = 0, zx = 0, zy = 0;
    for (const PlacedGemm& g : gemms_) {
      variation += g.expected * g.expected;
      zx += g.expected * g.overlap;
      zy += g.expected * g.time;
    }
    if (variation < kLeastVariation || !(zx > 0))
      return std::nullopt;
    const double slope = zy / zx;
    std::map<std::uint32_t, double> scores;
    for (const PlacedGemm& g : gemms_)
      scores[g.cluster] += g.expected * (g.time - slope * g.overlap);
    if (scores.size() < kFewestClusters)
      return std::nullopt;
    double squares = 0;
    for (const auto& [cluster, score] : scores)
      squares += score * score;
    const auto clusters = static_cast<double>(scores.size());
    const double half = student_t(clusters - 1, kContentionAlpha) *
                        std::sqrt(squares * clusters / (clusters - 1)) / zx;
    if (!(slope - half > kLeastContention) || !(slope + half < 1))
      return std::nullopt;
    return std::pair{slope, half};
  }

private:
  void remove_places() {
    for (double PlacedGemm::*value :
         {&PlacedGemm::time, &PlacedGemm::overlap, &PlacedGemm::expected}) {
      std::vector<double> mean(mean_ns_.size());
      for (const PlacedGemm& g : gemms_)
        mean[g.place] += g.*value / static_cast<double>(count_[g.place]);
      for (PlacedGemm& g : gemms_)
        g.*value -= mean[g.place];
    }
  }

  /// Subtracts what the GEMMs without overlap in the same step and rank have in common, as a clock
  /// does. Their mean excess counts as far as it varies more than by chance (James and Stein). In
  /// full it would give a false slope: after slow GEMMs without overlap, the next one starts later
  /// and overlaps less.
  void remove_steps() {
    struct Alone {
      double sum = 0, squares = 0, count = 0;
      [[nodiscard]] double mean() const { return sum / count; }
    };
    std::map<std::uint32_t, Alone> alone;
    for (const PlacedGemm& g : gemms_)
      if (g.alone) {
        Alone& a = alone[g.cluster];
        a.sum += g.time;
        a.squares += g.time * g.time;
        ++a.count;
      }
    std::erase_if(alone, [](const auto& a) { return a.second.count < kFewestAlone; });
    double within = 0, freedom = 0, between = 0, chance = 0;
    for (const auto& [cluster, a] : alone) {
      within += a.squares - a.sum * a.mean();
      freedom += a.count - 1;
      between += a.mean() * a.mean();
      chance += 1 / a.count;
    }
    if (!(between > 0))
      return;
    const double common = std::max(0.0, 1 - within / freedom * chance / between);
    for (PlacedGemm& g : gemms_)
      if (const auto at = alone.find(g.cluster); at != alone.end())
        g.time -= common * at->second.mean();
  }

  const JobRun& run_;
  const CountedSteps& clock_;
  std::vector<PlacedGemm> gemms_;
  std::vector<double> mean_ns_; ///< sum of the times, by place
  std::vector<std::size_t> count_;
};

} // namespace

Contention::Contention(const JobRun& run, const CountedSteps& clock,
                       std::span<const std::vector<NodeId>> nodes)
    : run_(run), gemms_(run.ranks.size()), collectives_(run.ranks.size()) {
  Slope slope(run, clock);
  for (std::uint32_t r = 0; r < run.ranks.size(); ++r) {
    find_nodes(r, nodes[r]);
    std::vector<Interval> running;
    for (const auto& [begin, end] : collectives_[r])
      running.push_back({run.node(begin).start_ns, run.node(end).start_ns + run.node(end).dur_ns});
    if (running.empty())
      continue;
    const IntervalSet collectives(std::move(running));
    for (Overlapped& gemm : gemms_[r]) {
      const RankNode& node = run.node(gemm.node);
      gemm.overlap_ns = collectives.covered(node.start_ns, node.start_ns + node.dur_ns);
    }
    slope.add_rank(r, gemms_[r], collectives);
  }
  if (const auto estimate = slope.estimate())
    std::tie(slope_, half_width_) = *estimate;
}

void Contention::find_nodes(std::uint32_t rank, const std::vector<NodeId>& nodes) {
  const RankGraph& graph = run_.ranks[rank];
  std::vector<bool> gemm(graph.activities.size());
  for (std::size_t a = 0; a < gemm.size(); ++a)
    gemm[a] = graph.activities[a].kind == ActivityKind::kKernel &&
              is_gemm_kernel(graph.text(graph.activities[a].name));
  for (const NodeId n : nodes) {
    const std::uint32_t activity = run_.node(n).activity;
    if (gemm[activity])
      gemms_[rank].push_back({n, 0});
    if (graph.activities[activity].kind != ActivityKind::kCollective)
      continue;
    const NodeId arrival = run_.waited(n, NodeRole::kArrival);
    collectives_[rank].emplace_back(arrival == kNoNode ? n : arrival, n);
  }
}

std::int64_t Contention::added_ns(const Overlapped& gemm) const {
  return std::llround(slope_ * static_cast<double>(gemm.overlap_ns));
}

std::int64_t Contention::added_ns(NodeId n) const {
  if (!found())
    return 0;
  const std::vector<Overlapped>& gemms = gemms_[run_.rank_of[n]];
  const auto at = std::ranges::lower_bound(gemms, n, {}, &Overlapped::node);
  return at == gemms.end() || at->node != n ? 0 : added_ns(*at);
}

void Contention::settle(JobEdit& edit) const {
  constexpr int kMostReplays = 12;
  constexpr double kStill = 1e-4; ///< of the run
  if (!found())
    return;
  std::vector<std::vector<std::int64_t>> alone(gemms_.size()); // by rank and GEMM
  for (std::size_t r = 0; r < gemms_.size(); ++r)
    for (const Overlapped& gemm : gemms_[r])
      alone[r].push_back(std::max<std::int64_t>(0, edit.dur_ns[gemm.node] - added_ns(gemm)));
  for (int replay = 0; replay < kMostReplays; ++replay) {
    const std::vector<std::int64_t> start = replay_starts(run_.graph, edit);
    std::int64_t end = 0, changed = 0;
    for (std::size_t r = 0; r < gemms_.size(); ++r) {
      std::vector<Interval> running;
      for (const auto& [first, last] : collectives_[r]) {
        running.push_back({start[first], start[last] + edit.dur_ns[last]});
        end = std::max(end, running.back().end);
      }
      const IntervalSet collectives(std::move(running));
      for (std::size_t k = 0; k < gemms_[r].size(); ++k) {
        const NodeId n = gemms_[r][k].node;
        std::int64_t& dur = edit.dur_ns[n];
        const std::int64_t overlap = collectives.covered(start[n], start[n] + dur);
        const std::int64_t more =
            alone[r][k] + std::llround(slope_ * static_cast<double>(overlap)) - dur;
        dur += more / 2; // ranks that wait less become faster, and then wait more
        changed += std::abs(more);
      }
    }
    if (static_cast<double>(changed) <
        kStill * static_cast<double>(end) * static_cast<double>(gemms_.size()))
      break;
  }
}

std::vector<CauseCandidate> contention_candidates(const JobRun& run, const CountedSteps& clock,
                                                  const Contention& contention) {
  if (!contention.found())
    return {};
  CauseCandidate c;
  c.cause.rule = CauseRule::kContention;
  c.cause.kind = GainKind::kAtMost;
  c.cause.what = "GEMMs";
  const auto percent = [](double slope) { return 100 * slope / (1 - slope); };
  c.cause.percent = percent(contention.slope());
  c.cause.percent_low = percent(contention.slope() - contention.half_width());
  c.cause.percent_high = percent(contention.slope() + contention.half_width());
  for (const std::vector<Contention::Overlapped>& gemms : contention.gemms())
    for (const Contention::Overlapped& gemm : gemms)
      if (gemm.overlap_ns > 0 && clock.counts(run.step_of(gemm.node)))
        c.add(gemm.node, run.graph.dur_ns(gemm.node) - contention.added_ns(gemm.node));
  c.cause.ranks = run.rank_numbers(c.nodes);
  return {std::move(c)};
}

} // namespace rankscope
