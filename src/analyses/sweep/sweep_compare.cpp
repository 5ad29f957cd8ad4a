#include "analyses/sweep/sweep_compare.h"

#include "base/sample_intervals.h"
#include "base/sort.h"
#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace rankscope {
namespace {

/// Number of rankings: by total time, by exposed communication, and the comparison by computation.
constexpr std::size_t kRankings = 3;

/// Minimum number of steps. Two steps may be equal by chance (both in the slow mode of a GPU),
/// which makes the interval too narrow.
constexpr std::size_t kFewestRankedSteps = 3;
/// Minimum number of steps to estimate their correlation. With fewer steps, a value is assumed.
constexpr std::size_t kFewestForCorrelation = 4;

/// Returns the correlation of steps plus its standard error. A few steps give a poor estimate, and
/// an interval that is too narrow could name a configuration without a real difference.
double upper_dependence(const std::vector<StepSeries>& series, double dependence) {
  double samples = 0;
  for (const StepSeries& s : series)
    samples += static_cast<double>(s.size());
  return std::min(kMostDependence, dependence + 1 / std::sqrt(samples));
}

double ms_of(const StepTimes& step, TimeKind kind) {
  return ns_to_ms(step.ns[static_cast<std::size_t>(kind)]);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The steps that all ranks have, in the order of the first rank's steps. For times that contain
/// the idle time before a step, steps for which it is unknown are left out; all, if only some ranks
/// count it.
struct CommonSteps {
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<double>> ms; ///< [step][rank]
};

CommonSteps common_of(const ConfigurationRanks& group, TimeKind kind) {
  std::vector<std::unordered_map<std::int64_t, const StepTimes*>> steps_of(group.ranks.size());
  for (std::size_t r = 0; r < group.ranks.size(); ++r)
    for (const StepTimes& step : group.ranks[r]->steps)
      steps_of[r].try_emplace(step.step, &step); // uses the first step of a repeated number
  CommonSteps out;
  for (const StepTimes& step : group.ranks.front()->steps) {
    std::vector<double> by_rank;
    for (const auto& steps : steps_of) {
      const auto at = steps.find(step.step);
      if (at == steps.end() ||
          (has_idle_before(kind) &&
           (!at->second->complete || at->second->counts_idle != step.counts_idle)))
        break;
      by_rank.push_back(ms_of(*at->second, kind));
    }
    if (by_rank.size() == group.ranks.size()) {
      out.numbers.push_back(step.step);
      out.ms.push_back(std::move(by_rank));
    }
  }
  return out;
}

/// Returns whether the configuration's steps contain the idle time between them.
bool counts_idle(const ConfigurationRanks& group) {
  const std::vector<StepTimes>& steps = group.ranks.front()->steps;
  return !steps.empty() && steps.front().counts_idle;
}

/// Returns steps that differ from the median of a rank by more than six robust standard deviations
/// and 1 %.
std::vector<OutlyingStep> far_steps(const ConfigurationRanks& group, const CommonSteps& steps) {
  constexpr double kDeviations = 6;
  constexpr double kPart = 0.01;
  std::vector<double> middles;
  std::vector<double> deviations;
  for (std::size_t r = 0; r < group.ranks.size(); ++r) {
    std::vector<double> values;
    for (const std::vector<double>& by_rank : steps.ms)
      values.push_back(by_rank[r]);
    const auto [middle, deviation] = robust_spread(std::move(values));
    middles.push_back(middle);
    deviations.push_back(deviation);
  }
  const double usual = quantile_of(deviations, 0.5);
  std::vector<OutlyingStep> out;
  for (std::size_t s = 0; s < steps.ms.size(); ++s) {
    OutlyingStep most{&group, steps.numbers[s], 0, 0};
    for (std::size_t r = 0; r < group.ranks.size(); ++r) {
      const double more = steps.ms[s][r] - middles[r];
      if (std::fabs(more) >
              std::max(kDeviations * std::max(deviations[r], usual), kPart * middles[r]) &&
          std::fabs(more) > std::fabs(most.more_ms)) {
        most.rank = group.ranks[r]->key.rank;
        most.more_ms = more;
      }
    }
    if (most.more_ms != 0)
      out.push_back(most);
  }
  return out;
}

/// The values of step_means_ms() without the steps that are left out.
struct RankedSteps {
  std::vector<double> ms;
  StepSeries filled; ///< left-out steps are replaced by the mean; used for the correlation
};

RankedSteps ranked_steps(const ConfigurationRanks& group, TimeKind kind,
                         const std::vector<OutlyingStep>& left_out) {
  const CommonSteps steps = common_of(group, kind);
  const auto is_left_out = [&](std::size_t s) {
    return std::any_of(left_out.begin(), left_out.end(), [&](const OutlyingStep& o) {
      return o.group == &group && o.step == steps.numbers[s];
    });
  };
  RankedSteps out;
  for (std::size_t s = 0; s < steps.ms.size(); ++s)
    if (!is_left_out(s))
      out.ms.push_back(mean(steps.ms[s]));
  for (std::size_t s = 0, kept = 0; s < steps.ms.size(); ++s)
    out.filled.push_back(is_left_out(s) ? mean(out.ms) : out.ms[kept++]);
  return out;
}

/// Returns the resolution of the step times in milliseconds: 1 us if all times are full
/// microseconds, else 1 ns. The recorded times are rounded to it.
double clock_ms(const std::vector<ConfigurationRanks>& groups) {
  constexpr std::int64_t kMicrosecond = 1000;
  for (const ConfigurationRanks& group : groups)
    for (const RankRecord* rank : group.ranks)
      for (const StepTimes& step : rank->steps)
        for (const std::int64_t ns : step.ns)
          if (ns % kMicrosecond != 0)
            return ns_to_ms(std::int64_t{1});
  return ns_to_ms(kMicrosecond);
}

} // namespace

std::vector<std::vector<double>> common_steps(const ConfigurationRanks& group, TimeKind kind) {
  return common_of(group, kind).ms;
}

std::vector<double> step_means_ms(const ConfigurationRanks& group, TimeKind kind) {
  std::vector<double> out;
  for (const std::vector<double>& by_rank : common_steps(group, kind))
    out.push_back(mean(by_rank));
  return out;
}

std::vector<OutlyingStep> outlying_steps(const std::vector<ConfigurationRanks>& groups) {
  constexpr std::size_t kFewest = 5;
  constexpr std::size_t kEachOf = 20; // one exception per twenty steps; one is always allowed
  std::vector<OutlyingStep> out;
  for (const ConfigurationRanks& group : groups) {
    if (!(group.mean_ms(TimeKind::kTotal) > 0))
      continue;
    const CommonSteps steps = common_of(group, TimeKind::kTotal);
    if (steps.ms.size() < kFewest)
      return {};
    const std::vector<OutlyingStep> found = far_steps(group, steps);
    if (found.size() > std::max<std::size_t>(1, steps.ms.size() / kEachOf))
      return {};
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

bool StepRanking::winner() const {
  return std::all_of(others.begin(), others.end(),
                     [](const AgainstBest& o) { return o.significant(); });
}

std::optional<StepRanking> rank_by_steps(const std::vector<ConfigurationRanks>& groups,
                                         TimeKind kind) {
  struct Sampled {
    const ConfigurationRanks* group;
    SampleStats stats;
  };
  std::vector<Sampled> all;
  std::vector<StepSeries> series;
  std::vector<OutlyingStep> left_out = outlying_steps(groups);
  const double clock = clock_ms(groups);
  for (const ConfigurationRanks& group : groups) {
    if (!(group.mean_ms(TimeKind::kTotal) > 0))
      continue; // do not recommend a configuration without GPU work
    if (has_idle_before(kind) && !all.empty() && counts_idle(group) != counts_idle(*all[0].group))
      return std::nullopt;
    RankedSteps steps = ranked_steps(group, kind, left_out);
    series.push_back(std::move(steps.filled));
    all.push_back({&group, with_rounding(sample_stats(steps.ms), clock)});
    if (all.back().stats.n < kFewestRankedSteps)
      return std::nullopt;
  }
  if (all.size() < 2)
    return std::nullopt;
  sort_stably(all, [](const Sampled& a, const Sampled& b) { return a.stats.mean < b.stats.mean; });
  StepRanking out;
  out.left_out = std::move(left_out);
  out.best = all.front().group;
  out.best_ms = all.front().stats.mean;
  out.steps = all.front().stats.n;
  out.dependence = lag1_dependence(series);
  const double dependence = upper_dependence(series, out.dependence);
  std::vector<SampleStats*> stats;
  for (Sampled& s : all)
    stats.push_back(&s.stats);
  lend_variance(stats);
  out.comparisons = kRankings * all.size() * (all.size() - 1) / 2;
  for (std::size_t i = 1; i < all.size(); ++i) {
    out.steps = std::min(out.steps, all[i].stats.n);
    const auto difference = welch_dependent(all.front().stats, all[i].stats,
                                            corrected_alpha(out.comparisons), dependence);
    out.others.push_back({all[i].group, all[i].stats.mean, difference.value_or(MeanDifference{})});
  }
  for (std::size_t a = 0; a < out.others.size(); ++a)
    for (std::size_t b = a + 1; b < out.others.size(); ++b) {
      if (out.others[a].significant() || out.others[b].significant())
        continue;
      const auto difference = welch_dependent(all[a + 1].stats, all[b + 1].stats,
                                              corrected_alpha(out.comparisons), dependence);
      if (difference && difference->difference - difference->half_width > 0 &&
          (!out.pair || difference->difference > out.pair->difference.difference))
        out.pair = {out.others[a].group, out.others[b].group, *difference};
    }
  return out;
}

double sweep_correlation(const std::vector<ConfigurationRanks>& base,
                         const std::vector<ConfigurationRanks>& test, TimeKind kind) {
  std::vector<StepSeries> series;
  double samples = 0;
  for (const std::vector<ConfigurationRanks>* sweep : {&base, &test})
    for (const ConfigurationRanks& group : *sweep)
      if (StepSeries steps = step_means_ms(group, kind); steps.size() >= kFewestForCorrelation) {
        samples += static_cast<double>(steps.size());
        series.push_back(std::move(steps));
      }
  const double rho = series.empty()
                         ? kAssumedDependence
                         : cautious_correlation(lag1_correlation(series), 1 / std::sqrt(samples));
  return std::min(rho, kMostDependence);
}

SweepDifference compare_sweeps(const std::vector<ConfigurationRanks>& base,
                               const std::vector<ConfigurationRanks>& test, TimeKind kind,
                               double correlation, double alpha) {
  SweepDifference out;
  std::vector<SampleStats> sides; // base and test of each shared configuration
  const double clock = std::min(clock_ms(base), clock_ms(test));
  bool same_idle = true;
  for (const ConfigurationRanks& b : base) {
    const auto t = std::find_if(test.begin(), test.end(), [&](const ConfigurationRanks& other) {
      return other.configuration.label == b.configuration.label;
    });
    if (t == test.end() || !(b.mean_ms(TimeKind::kTotal) > 0) ||
        !(t->mean_ms(TimeKind::kTotal) > 0))
      continue;
    ++out.shared;
    same_idle = same_idle && (!has_idle_before(kind) || counts_idle(b) == counts_idle(*t));
    for (const auto& [group, sum] : {std::pair(&b, &out.base_ms), std::pair(&*t, &out.test_ms)}) {
      sides.push_back(with_rounding(sample_stats(step_means_ms(*group, kind)), clock));
      *sum += sides.back().n > 0 ? sides.back().mean : group->mean_ms(kind);
    }
  }
  if (out.shared == 0)
    return out;
  const auto n = static_cast<double>(out.shared);
  out.base_ms /= n;
  out.test_ms /= n;
  out.steps = std::ranges::min(sides, {}, &SampleStats::n).n;
  if (out.steps < kFewestRankedSteps || !same_idle)
    return out;
  double variance = 0;
  double spread = 0;
  for (const SampleStats& s : sides) {
    const auto steps = static_cast<double>(s.n);
    const double worth = independent_samples(steps, correlation);
    const double v = s.variance / worth;
    variance += v;
    spread += v * v / ((steps - 1) * worth / steps);
  }
  out.difference = MeanDifference{
      out.test_ms - out.base_ms,
      variance > 0 ? student_t(variance * variance / spread, alpha) * std::sqrt(variance) / n : 0};
  return out;
}

std::optional<MeanDifference> computes_longer(const StepRanking& ranking,
                                              const ConfigurationRanks& test) {
  const std::vector<StepSeries> series{
      ranked_steps(*ranking.best, TimeKind::kComputation, ranking.left_out).ms,
      ranked_steps(test, TimeKind::kComputation, ranking.left_out).ms};
  const double clock = clock_ms({*ranking.best, test});
  SampleStats best = with_rounding(sample_stats(series[0]), clock);
  SampleStats other = with_rounding(sample_stats(series[1]), clock);
  lend_variance(std::array{&best, &other});
  return welch_dependent(best, other, corrected_alpha(ranking.comparisons),
                         upper_dependence(series, ranking.dependence));
}

} // namespace rankscope
