#include "app/sweep_verdict.h"

#include "analyses/sweep/sweep_compare.h"
#include "base/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope {
namespace {

constexpr std::string_view kRepeat = "repeat";

/// The configuration without the repeat, as a label.
std::string label_without_repeat(const Configuration& configuration) {
  std::string out;
  if (const auto t = configuration.threads(); t && configuration.channels())
    out = fmt::format("{}thread_{}ch", *t, *configuration.channels());
  else if (t && configuration.cus())
    out = fmt::format("{}cu_{}threads", *configuration.cus(), *t);
  const bool named = !out.empty();
  for (const Parameter& parameter : configuration.parameters)
    if (parameter.name != kRepeat &&
        !(named &&
          (parameter.name == kThreads || parameter.name == kChannels || parameter.name == kCus)))
      out += fmt::format("{}{}={}", out.empty() ? "" : "_", parameter.name, parameter.value);
  return out;
}

} // namespace

std::vector<RepeatedSetting> repeated_settings(const std::vector<RankRecord>& records) {
  std::vector<RepeatedSetting> out;
  for (const ConfigurationRanks& group : by_configuration(records)) {
    const std::vector<double> steps = step_means_ms(group, TimeKind::kTotal);
    const double value = steps.empty() ? group.mean_ms(TimeKind::kTotal) : sample_stats(steps).mean;
    if (!(value > 0))
      continue;
    const std::string label = label_without_repeat(group.configuration);
    auto at = std::find_if(out.begin(), out.end(),
                           [&](const RepeatedSetting& s) { return s.label == label; });
    if (at == out.end())
      at = out.insert(out.end(), {label, {}});
    at->runs.push_back(value);
  }
  return out;
}

std::vector<std::string> verdict(const std::vector<RepeatedSetting>& settings) {
  struct Sampled {
    const RepeatedSetting* setting;
    SampleStats stats;
  };
  std::vector<Sampled> all;
  for (const RepeatedSetting& setting : settings)
    all.push_back({&setting, sample_stats(setting.runs)});
  if (all.size() < 2)
    return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const Sampled& a, const Sampled& b) { return a.stats.mean < b.stats.mean; });
  const Sampled& best = all.front();
  const std::size_t comparisons = all.size() * (all.size() - 1) / 2;
  std::vector<std::string> same;
  std::vector<std::string> longer;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto d = welch(best.stats, all[i].stats, corrected_alpha(comparisons));
    if (!d)
      return {fmt::format("{} has the shortest steps, {:.3f} ms; with fewer than two runs of a "
                          "setting nothing tells that from chance",
                          best.setting->label, best.stats.mean)};
    if (d->difference - d->half_width > 0)
      longer.push_back(fmt::format("{} takes {:.3f} ms a step longer ({:.3f} to {:.3f})",
                                   all[i].setting->label, d->difference,
                                   d->difference - d->half_width, d->difference + d->half_width));
    else
      same.push_back(all[i].setting->label);
  }
  const std::string how =
      fmt::format("Welch, 95 % over {} comparisons, a sample is a run, {} runs each", comparisons,
                  best.stats.n);
  std::vector<std::string> out;
  if (same.empty())
    out.push_back(fmt::format("{} is best: {:.3f} ms a step ({})", best.setting->label,
                              best.stats.mean, how));
  else
    out.push_back(fmt::format("{} and {} cannot be told apart, from {:.3f} ms a step ({})",
                              best.setting->label, fmt::join(same, ", "), best.stats.mean, how));
  out.insert(out.end(), longer.begin(), longer.end());
  return out;
}

std::vector<std::string> verdict_over_repeats(const std::vector<RankRecord>& records) {
  return verdict(repeated_settings(records));
}

} // namespace rankscope
