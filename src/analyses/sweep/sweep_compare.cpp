#include "analyses/sweep/sweep_compare.h"

#include "base/sample_intervals.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace rankscope {
namespace {

/// A sweep is ranked by total time and by exposed communication, and compared by computation.
constexpr std::size_t kRankings = 3;

/// Two steps that are equal by chance (both in the slow mode of a GPU) look like certainty.
constexpr std::size_t kFewestRankedSteps = 3;
/// So few steps may agree by chance: a configuration scatters at least as all of them do.
constexpr std::size_t kFewestOwnSteps = 4;

/// The correlation of steps and its standard error: of few steps it is known badly, and an interval
/// that is too narrow names a configuration where nothing differs.
double upper_dependence(const std::vector<StepSeries>& series, double dependence) {
  double samples = 0;
  for (const StepSeries& s : series)
    samples += static_cast<double>(s.size());
  return std::min(0.95, dependence + 1 / std::sqrt(samples));
}

double ms_of(const StepTimes& step, TimeKind kind) {
  return ns_to_ms(step.ns[static_cast<std::size_t>(kind)]);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

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
  std::vector<StepSeries> series;
  for (const ConfigurationRanks& group : groups) {
    if (!(group.mean_ms(TimeKind::kTotal) > 0))
      continue; // a trace without GPU work is no configuration to recommend
    series.push_back(step_means_ms(group, kind));
    all.push_back({&group, sample_stats(series.back())});
    if (all.back().stats.n < kFewestRankedSteps)
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
  out.dependence = lag1_dependence(series);
  const double dependence = upper_dependence(series, out.dependence);
  double pooled = 0;
  for (const Sampled& s : all)
    pooled += s.stats.variance / static_cast<double>(all.size());
  for (Sampled& s : all)
    if (s.stats.n < kFewestOwnSteps)
      s.stats.variance = std::max(s.stats.variance, pooled);
  out.comparisons = kRankings * all.size() * (all.size() - 1) / 2;
  for (std::size_t i = 1; i < all.size(); ++i) {
    out.steps = std::min(out.steps, all[i].stats.n);
    const auto difference = welch_dependent(all.front().stats, all[i].stats,
                                            corrected_alpha(out.comparisons), dependence);
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

std::optional<MeanDifference> computes_longer(const StepRanking& ranking,
                                              const ConfigurationRanks& test) {
  const std::vector<StepSeries> series{step_means_ms(*ranking.best, TimeKind::kComputation),
                                       step_means_ms(test, TimeKind::kComputation)};
  SampleStats best = sample_stats(series[0]);
  SampleStats other = sample_stats(series[1]);
  const double pooled = (best.variance + other.variance) / 2;
  for (SampleStats* s : {&best, &other})
    if (s->n < kFewestOwnSteps)
      s->variance = std::max(s->variance, pooled);
  return welch_dependent(best, other, corrected_alpha(ranking.comparisons),
                         upper_dependence(series, ranking.dependence));
}

} // namespace rankscope
