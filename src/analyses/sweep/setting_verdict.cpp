#include "analyses/sweep/setting_verdict.h"

#include "base/sample_intervals.h"
#include "base/sort.h"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

struct SampledSetting {
  RankedSetting ranked;
  SampleStats stats;
};

std::vector<double> values_of(const RepeatedSetting& setting) {
  std::vector<double> out;
  for (const auto& [repeat, value] : setting.runs)
    out.push_back(value);
  return out;
}

constexpr std::size_t kFewRuns = 4; ///< fewer runs may be equal by chance

/// Raises each setting's variance to its minimum: the pooled variance if it has fewer than kFewRuns
/// runs, and the variance of rounding. Returns false if the variance is unknown: no setting has
/// more than two runs, and the runs of each setting are equal.
bool add_scatter(std::vector<SampledSetting>& settings, double step) {
  double pooled = 0;
  double degrees = 0;
  std::size_t most_runs = 0;
  for (const SampledSetting& s : settings) {
    pooled += s.stats.variance * static_cast<double>(s.stats.n - 1);
    degrees += static_cast<double>(s.stats.n - 1);
    most_runs = std::max(most_runs, s.stats.n);
  }
  pooled /= degrees;
  for (SampledSetting& s : settings) {
    if (s.stats.n < kFewRuns)
      s.stats.variance = std::max(s.stats.variance, pooled);
    s.stats = with_rounding(s.stats, step);
  }
  return most_runs > 2 || pooled > 0;
}

} // namespace

std::optional<SettingVerdict> setting_verdict(const std::vector<RepeatedSetting>& settings,
                                              bool higher_is_better) {
  std::vector<SampledSetting> all;
  std::vector<double> values;
  for (const RepeatedSetting& setting : settings)
    if (!setting.runs.empty()) {
      const std::vector<double> runs = values_of(setting);
      values.insert(values.end(), runs.begin(), runs.end());
      const SampleStats stats = sample_stats(runs);
      all.push_back({{setting.label, stats.mean, stats.n, {}}, stats});
    }
  if (all.size() < 2)
    return std::nullopt;
  sort_stably(all, [higher_is_better](const SampledSetting& a, const SampledSetting& b) {
    return higher_is_better ? a.stats.mean > b.stats.mean : a.stats.mean < b.stats.mean;
  });
  SettingVerdict out;
  out.best = all.front().ranked;
  std::vector<SampledSetting> tested;
  for (const SampledSetting& s : all)
    if (s.stats.n < 2)
      out.once.push_back(s.ranked);
    else
      tested.push_back(s);
  if (tested.size() < 2)
    return out;
  if (!add_scatter(tested, decimal_step(values))) {
    out.equal_runs = true;
    out.once.clear();
    for (const SampledSetting& s : all)
      out.once.push_back(s.ranked);
    return out;
  }
  out.best = tested.front().ranked;
  out.comparisons = tested.size() * (tested.size() - 1) / 2;
  for (std::size_t i = 1; i < tested.size(); ++i) {
    const SampleStats& low = higher_is_better ? tested[i].stats : tested.front().stats;
    const SampleStats& high = higher_is_better ? tested.front().stats : tested[i].stats;
    if (const auto worse = welch(low, high, corrected_alpha(out.comparisons)))
      tested[i].ranked.worse = *worse;
    out.others.push_back(std::move(tested[i].ranked));
  }
  return out;
}

std::vector<OutlierRun> outlier_runs(const std::vector<RepeatedSetting>& settings) {
  constexpr std::size_t kEnoughRuns = 4;
  constexpr double kDeviations = 10;
  constexpr double kPart = 0.1;
  std::vector<OutlierRun> out;
  for (const RepeatedSetting& setting : settings) {
    if (setting.runs.size() < kEnoughRuns)
      continue;
    const auto [middle, deviation] = robust_spread(values_of(setting));
    for (const auto& [repeat, value] : setting.runs)
      if (std::fabs(value - middle) > std::max(kDeviations * deviation, kPart * std::fabs(middle)))
        out.push_back({setting.label, repeat, value, middle});
  }
  return out;
}

} // namespace rankscope
