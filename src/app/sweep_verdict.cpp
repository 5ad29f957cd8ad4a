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

std::vector<double> figures(const RepeatedSetting& setting) {
  std::vector<double> out;
  for (const auto& run : setting.runs)
    out.push_back(run.second);
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
    at->runs[group.configuration.integer(kRepeat).value_or(1)] = value;
  }
  return out;
}

std::vector<std::string> verdict(const std::vector<RepeatedSetting>& settings,
                                 const std::string& unit) {
  struct Sampled {
    const RepeatedSetting* setting;
    SampleStats stats;
  };
  std::vector<Sampled> all;
  for (const RepeatedSetting& setting : settings)
    if (!setting.runs.empty())
      all.push_back({&setting, sample_stats(figures(setting))});
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
      return {fmt::format("{} is the shortest, {:.3f}{}; with fewer than two runs of a "
                          "setting nothing tells that from chance",
                          best.setting->label, best.stats.mean, unit)};
    if (d->difference - d->half_width > 0)
      longer.push_back(fmt::format("{} takes {:.3f}{} longer ({:.3f} to {:.3f})",
                                   all[i].setting->label, d->difference, unit,
                                   d->difference - d->half_width, d->difference + d->half_width));
    else
      same.push_back(all[i].setting->label);
  }
  const std::string how =
      fmt::format("Welch, 95 % over {} comparisons, a sample is a run, {} runs each", comparisons,
                  best.stats.n);
  std::vector<std::string> out;
  if (same.empty())
    out.push_back(
        fmt::format("{} is best: {:.3f}{} ({})", best.setting->label, best.stats.mean, unit, how));
  else
    out.push_back(fmt::format("{} and {} cannot be told apart, from {:.3f}{} ({})",
                              best.setting->label, fmt::join(same, ", "), best.stats.mean, unit,
                              how));
  out.insert(out.end(), longer.begin(), longer.end());
  return out;
}

std::vector<std::string> race_verdict(const Race& race, const std::vector<std::string>& labels,
                                      std::size_t default_setting, const std::string& unit) {
  const RaceOutcome outcome = race.outcome();
  const std::string& usual = labels[default_setting];
  const std::string how = fmt::format(
      "paired by round, {} rounds, Student's t, 95 % over all settings and rounds", race.rounds());
  if (!outcome.gain)
    return {outcome.leader == default_setting
                ? fmt::format("nothing is recommended: the default {} leads after {} rounds", usual,
                              race.rounds())
                : fmt::format("nothing is recommended: {} leads, but there are fewer than two "
                              "rounds to tell it from the default {}",
                              labels[outcome.leader], usual)};
  const double low = outcome.gain->difference - outcome.gain->half_width;
  const double high = outcome.gain->difference + outcome.gain->half_width;
  if (outcome.recommended)
    return {
        fmt::format("{} is recommended: {:.3f}{} shorter than the default {} ({:.3f} to {:.3f}; "
                    "{})",
                    labels[outcome.leader], outcome.gain->difference, unit, usual, low, high, how)};
  return {fmt::format("nothing is recommended: {} leads, but it cannot be told from the default {} "
                      "({:.3f}{} shorter, {:.3f} to {:.3f}; {})",
                      labels[outcome.leader], usual, outcome.gain->difference, unit, low, high,
                      how)};
}

} // namespace rankscope
