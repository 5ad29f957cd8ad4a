#include "analyses/sweep/sweep_compare.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace rankscope {
namespace {

/// A sweep is ranked by total time and by exposed communication, and compared by computation.
constexpr std::size_t kRankings = 3;

/// Devices of one model differ by up to about this much without anything wrong.
constexpr double kDeviceSpreadPercent = 0.25;

/// The others wait by the same time when it is within this share of the excess.
constexpr double kSameTime = 0.5;

double ms_of(const StepTimes& step, TimeKind kind) {
  return ns_to_ms(step.ns[static_cast<std::size_t>(kind)]);
}

/// Milliseconds by step, then by rank, of the steps that all ranks have.
std::vector<std::vector<double>> common_steps(const ConfigurationRanks& group, TimeKind kind) {
  std::vector<std::unordered_map<std::int64_t, const StepTimes*>> steps_of(group.ranks.size());
  for (std::size_t r = 0; r < group.ranks.size(); ++r)
    for (const StepTimes& step : group.ranks[r]->steps)
      steps_of[r].try_emplace(step.step, &step); // of a number that comes twice the first
  std::vector<std::vector<double>> out;
  for (const StepTimes& step : group.ranks.front()->steps) {
    std::vector<double> by_rank;
    for (const auto& steps : steps_of) {
      const auto at = steps.find(step.step);
      if (at == steps.end())
        break;
      by_rank.push_back(ms_of(*at->second, kind));
    }
    if (by_rank.size() == group.ranks.size())
      out.push_back(std::move(by_rank));
  }
  return out;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// values[r] against the mean of the others, step by step.
std::vector<double> against_others(const std::vector<std::vector<double>>& steps, std::size_t r) {
  std::vector<double> out;
  for (const std::vector<double>& by_rank : steps) {
    const double sum = std::accumulate(by_rank.begin(), by_rank.end(), 0.0);
    out.push_back(by_rank[r] - (sum - by_rank[r]) / static_cast<double>(by_rank.size() - 1));
  }
  return out;
}

/// How much longer than the slow rank the others stand in collectives with nothing beside them: by
/// the time that it computes longer, when they wait for it. Collectives that are hidden may last
/// longer by several times that without anyone waiting.
std::optional<MeanDifference> waited_for(const ConfigurationRanks& group, std::size_t r,
                                         double excess_ms, double alpha) {
  std::vector<double> less = against_others(common_steps(group, TimeKind::kExposedComm), r);
  for (double& v : less)
    v = -v;
  const auto waited = mean_interval(less, alpha);
  if (!waited || waited->difference - waited->half_width <= 0 ||
      waited->difference < excess_ms * (1 - kSameTime) ||
      waited->difference > excess_ms * (1 + kSameTime))
    return std::nullopt;
  return waited;
}

} // namespace

std::vector<double> step_means_ms(const ConfigurationRanks& group, TimeKind kind) {
  std::vector<double> out;
  for (const std::vector<double>& by_rank : common_steps(group, kind))
    out.push_back(mean(by_rank));
  return out;
}

bool StepRanking::winner() const {
  return std::all_of(others.begin(), others.end(), [](const AgainstBest& o) { return o.told(); });
}

std::optional<StepRanking> rank_by_steps(const std::vector<ConfigurationRanks>& groups,
                                         TimeKind kind) {
  struct Sampled {
    const ConfigurationRanks* group;
    SampleStats stats;
  };
  std::vector<Sampled> all;
  for (const ConfigurationRanks& group : groups) {
    if (!(group.mean_ms(TimeKind::kTotal) > 0))
      continue; // a trace without GPU work is no configuration to recommend
    all.push_back({&group, sample_stats(step_means_ms(group, kind))});
    if (all.back().stats.n < 2)
      return std::nullopt;
  }
  if (all.size() < 2)
    return std::nullopt;
  std::stable_sort(all.begin(), all.end(),
                   [](const Sampled& a, const Sampled& b) { return a.stats.mean < b.stats.mean; });
  StepRanking out;
  out.best = all.front().group;
  out.best_ms = all.front().stats.mean;
  out.steps = all.front().stats.n;
  out.comparisons = kRankings * all.size() * (all.size() - 1) / 2;
  for (std::size_t i = 1; i < all.size(); ++i) {
    out.steps = std::min(out.steps, all[i].stats.n);
    const auto difference =
        welch(all.front().stats, all[i].stats, corrected_alpha(out.comparisons));
    out.others.push_back({all[i].group, all[i].stats.mean, difference.value_or(MeanDifference{})});
  }
  return out;
}

SweepDifference compare_sweeps(const std::vector<ConfigurationRanks>& base,
                               const std::vector<ConfigurationRanks>& test, TimeKind kind,
                               double alpha) {
  SweepDifference out;
  double variance = 0;
  double spread = 0;
  bool sampled = true;
  for (const ConfigurationRanks& b : base) {
    const auto t = std::find_if(test.begin(), test.end(), [&](const ConfigurationRanks& other) {
      return other.configuration.label == b.configuration.label;
    });
    if (t == test.end() || !(b.mean_ms(TimeKind::kTotal) > 0) ||
        !(t->mean_ms(TimeKind::kTotal) > 0))
      continue;
    ++out.shared;
    for (const auto& [group, sum] : {std::pair(&b, &out.base_ms), std::pair(&*t, &out.test_ms)}) {
      const SampleStats s = sample_stats(step_means_ms(*group, kind));
      *sum += s.n > 0 ? s.mean : group->mean_ms(kind);
      out.steps = out.shared == 1 && group == &b ? s.n : std::min(out.steps, s.n);
      sampled = sampled && s.n > 1;
      if (s.n < 2)
        continue;
      const double v = s.variance / static_cast<double>(s.n);
      variance += v;
      spread += v * v / static_cast<double>(s.n - 1);
    }
  }
  if (out.shared == 0)
    return out;
  const auto n = static_cast<double>(out.shared);
  out.base_ms /= n;
  out.test_ms /= n;
  if (sampled)
    out.difference = MeanDifference{out.test_ms - out.base_ms,
                                    variance > 0 ? student_t(variance * variance / spread, alpha) *
                                                       std::sqrt(variance) / n
                                                 : 0.0};
  return out;
}

SlowRanks slow_ranks(const std::vector<ConfigurationRanks>& groups) {
  SlowRanks out;
  std::vector<std::vector<std::vector<double>>> compute;
  std::size_t comparisons = 0;
  for (const ConfigurationRanks& group : groups) {
    compute.push_back(group.ranks.size() > 1 ? common_steps(group, TimeKind::kComputation)
                                             : std::vector<std::vector<double>>{});
    if (compute.back().size() < 2)
      continue;
    ++out.tested;
    comparisons += group.ranks.size();
  }
  const double alpha = corrected_alpha(comparisons);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (compute[g].size() < 2)
      continue;
    std::optional<SlowRank> worst;
    std::size_t worst_at = 0;
    for (std::size_t r = 0; r < groups[g].ranks.size(); ++r) {
      const auto excess = mean_interval(against_others(compute[g], r), alpha);
      if (worst && excess->difference <= worst->excess.difference)
        continue;
      double others = 0;
      for (const std::vector<double>& by_rank : compute[g])
        others += by_rank[r];
      others = others / static_cast<double>(compute[g].size()) - excess->difference;
      worst = {&groups[g], groups[g].ranks[r]->key.rank, *excess,
               others > 0 ? excess->difference / others * 100 : 0, std::nullopt};
      worst_at = r;
    }
    if (worst->excess.difference - worst->excess.half_width <= 0 ||
        worst->percent < kDeviceSpreadPercent)
      continue;
    worst->waited = waited_for(groups[g], worst_at, worst->excess.difference, alpha);
    out.told.push_back(*worst);
  }
  return out;
}

} // namespace rankscope
