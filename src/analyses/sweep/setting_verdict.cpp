#include "analyses/sweep/setting_verdict.h"

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

} // namespace

std::optional<SettingVerdict> setting_verdict(const std::vector<RepeatedSetting>& settings,
                                              bool higher_is_better) {
  std::vector<SampledSetting> all;
  for (const RepeatedSetting& setting : settings)
    if (!setting.runs.empty()) {
      const SampleStats stats = sample_stats(values_of(setting));
      all.push_back({{setting.label, stats.mean, stats.n, {}}, stats});
    }
  if (all.size() < 2)
    return std::nullopt;
  std::stable_sort(
      all.begin(), all.end(), [higher_is_better](const SampledSetting& a, const SampledSetting& b) {
        return higher_is_better ? a.stats.mean > b.stats.mean : a.stats.mean < b.stats.mean;
      });
  SettingVerdict out;
  out.best = all.front().ranked;
  for (const SampledSetting& s : all)
    if (s.stats.n < 2)
      out.once.push_back(s.ranked);
  if (all.size() < out.once.size() + 2)
    return out;
  std::erase_if(all, [](const SampledSetting& s) { return s.stats.n < 2; });
  out.best = all.front().ranked;
  out.comparisons = all.size() * (all.size() - 1) / 2;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const SampleStats& low = higher_is_better ? all[i].stats : all.front().stats;
    const SampleStats& high = higher_is_better ? all.front().stats : all[i].stats;
    if (const auto worse = welch(low, high, corrected_alpha(out.comparisons)))
      all[i].ranked.worse = *worse;
    out.others.push_back(std::move(all[i].ranked));
  }
  return out;
}

std::vector<OutlierRun> outlier_runs(const std::vector<RepeatedSetting>& settings) {
  constexpr std::size_t kEnoughRuns = 4;
  constexpr double kDeviations = 10;
  constexpr double kPart = 0.1;
  constexpr double kNormal = 1.4826; // median absolute deviation to standard deviation
  std::vector<OutlierRun> out;
  for (const RepeatedSetting& setting : settings) {
    if (setting.runs.size() < kEnoughRuns)
      continue;
    std::vector<double> values = values_of(setting);
    const double middle = quantile_of(values, 0.5);
    for (double& value : values)
      value = std::fabs(value - middle);
    const double deviation = kNormal * quantile_of(std::move(values), 0.5);
    for (const auto& [repeat, value] : setting.runs)
      if (std::fabs(value - middle) > std::max(kDeviations * deviation, kPart * std::fabs(middle)))
        out.push_back({setting.label, repeat, value, middle});
  }
  return out;
}

} // namespace rankscope
