#include "app/sweep_verdict.h"

#include "analyses/sweep/sweep_compare.h"
#include "base/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope {
namespace {

constexpr std::string_view kRepeat = "repeat";

std::vector<double> figures(const RepeatedSetting& setting) {
  std::vector<double> out;
  for (const auto& run : setting.runs)
    out.push_back(run.second);
  return out;
}

struct Sampled {
  const RepeatedSetting* setting;
  SampleStats stats;
};

/// "3 runs each", "2 to 5 runs each".
std::string runs_text(const std::vector<Sampled>& settings) {
  std::size_t least = settings.front().stats.n, most = least;
  for (const Sampled& s : settings) {
    least = std::min(least, s.stats.n);
    most = std::max(most, s.stats.n);
  }
  return least == most ? fmt::format("{} runs each", most)
                       : fmt::format("{} to {} runs each", least, most);
}

} // namespace

std::optional<std::size_t> setting_of(const Configuration& configuration,
                                      const std::vector<SweepSetting>& settings) {
  std::string label = configuration.label;
  if (const auto repeat = configuration.text(kRepeat)) // folder repeat=2/..., / as _
    if (const std::string front = fmt::format("{}={}_", kRepeat, *repeat); label.starts_with(front))
      label.erase(0, front.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::string folder = settings[i].folder;
    std::replace(folder.begin(), folder.end(), '/', '_');
    if (label == folder || label == settings[i].configuration.label)
      return i;
  }
  return std::nullopt;
}

RepeatedFigures repeated_settings(const std::vector<RankRecord>& records,
                                  const std::vector<SweepSetting>& settings) {
  RepeatedFigures out;
  for (const SweepSetting& setting : settings)
    out.settings.push_back({setting.configuration.label, {}});
  struct Run {
    const ConfigurationRanks* group;
    std::size_t setting;
    std::vector<double> steps;
  };
  std::vector<Run> runs;
  bool stepped = true;
  const std::vector<ConfigurationRanks> groups = by_configuration(records);
  for (const ConfigurationRanks& group : groups)
    if (const auto at = setting_of(group.configuration, settings);
        at && group.mean_ms(TimeKind::kTotal) > 0) {
      runs.push_back({&group, *at, step_means_ms(group, TimeKind::kTotal)});
      stepped = stepped && !runs.back().steps.empty();
    }
  if (!stepped)
    out.unit = " ms a trace";
  for (const Run& run : runs) {
    const double value =
        stepped ? sample_stats(run.steps).mean : run.group->mean_ms(TimeKind::kTotal);
    if (value > 0)
      out.settings[run.setting].runs[run.group->configuration.integer(kRepeat).value_or(1)] = value;
  }
  return out;
}

std::vector<std::string> verdict(const std::vector<RepeatedSetting>& settings,
                                 const std::string& unit, bool higher_is_better) {
  std::vector<Sampled> all;
  for (const RepeatedSetting& setting : settings)
    if (!setting.runs.empty())
      all.push_back({&setting, sample_stats(figures(setting))});
  if (all.size() < 2)
    return {};
  std::stable_sort(all.begin(), all.end(), [higher_is_better](const Sampled& a, const Sampled& b) {
    return higher_is_better ? a.stats.mean > b.stats.mean : a.stats.mean < b.stats.mean;
  });
  std::vector<std::string> once; // nothing is said of them: the others are compared all the same
  for (const Sampled& s : all)
    if (s.stats.n < 2)
      once.push_back(fmt::format("{} ({:.3f}{})", s.setting->label, s.stats.mean, unit));
  if (all.size() < once.size() + 2)
    return {fmt::format("{} is the {}, {:.3f}{}; with fewer than two runs of a setting "
                        "nothing tells that from chance",
                        all.front().setting->label,
                        higher_is_better ? "highest"
                        : unit.empty()   ? "lowest"
                                         : "shortest",
                        all.front().stats.mean, unit)};
  std::erase_if(all, [](const Sampled& s) { return s.stats.n < 2; });
  const Sampled& best = all.front();
  const std::size_t comparisons = all.size() * (all.size() - 1) / 2;
  std::vector<std::string> same;
  std::vector<std::string> worse;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const SampleStats& low = higher_is_better ? all[i].stats : best.stats;
    const SampleStats& high = higher_is_better ? best.stats : all[i].stats;
    const auto d = welch(low, high, corrected_alpha(comparisons));
    if (d && d->difference - d->half_width > 0)
      worse.push_back(fmt::format(
          "{} {} ({:.3f} to {:.3f})", all[i].setting->label,
          unit.empty()
              ? fmt::format("is {:.3f} {}", d->difference, higher_is_better ? "lower" : "higher")
              : fmt::format("takes {:.3f}{} longer", d->difference, unit),
          d->difference - d->half_width, d->difference + d->half_width));
    else
      same.push_back(all[i].setting->label);
  }
  const std::string how = fmt::format("{}Welch, 95 % over {} comparison{}, a sample is a run, {}",
                                      higher_is_better ? "higher is better; " : "", comparisons,
                                      comparisons == 1 ? "" : "s", runs_text(all));
  std::vector<std::string> out;
  if (same.empty())
    out.push_back(
        fmt::format("{} is best: {:.3f}{} ({})", best.setting->label, best.stats.mean, unit, how));
  else
    out.push_back(fmt::format("{} and {} cannot be told apart, from {:.3f}{} ({})",
                              best.setting->label, fmt::join(same, ", "), best.stats.mean, unit,
                              how));
  out.insert(out.end(), worse.begin(), worse.end());
  if (!once.empty())
    out.push_back(fmt::format("of one run nothing is told from chance: {}", fmt::join(once, ", ")));
  return out;
}

std::vector<std::string> race_verdict(const Race& race, const std::vector<std::string>& labels,
                                      std::size_t default_setting, const std::string& unit,
                                      bool higher_is_better) {
  const char* const better = higher_is_better ? "higher" : unit.empty() ? "lower" : "shorter";
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
    return {fmt::format("{} is recommended: {:.3f}{} {} than the default {} ({:.3f} to {:.3f}; "
                        "{})",
                        labels[outcome.leader], outcome.gain->difference, unit, better, usual, low,
                        high, how)};
  return {fmt::format("nothing is recommended: {} leads, but it cannot be told from the default {} "
                      "({:.3f}{} {}, {:.3f} to {:.3f}; {})",
                      labels[outcome.leader], usual, outcome.gain->difference, unit, better, low,
                      high, how)};
}

} // namespace rankscope
