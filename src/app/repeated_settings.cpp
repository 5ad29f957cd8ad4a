#include "app/repeated_settings.h"

#include "analyses/sweep/sweep_compare.h"
#include "base/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::string_view kRepeat = "repeat";

} // namespace

std::optional<std::size_t> setting_of(const Configuration& configuration,
                                      const std::vector<SweepSetting>& settings) {
  std::string label = configuration.label;
  if (const auto repeat = configuration.text(kRepeat)) // label of folder repeat=2/... has _ for /
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

RepeatedMetrics repeated_settings(const std::vector<RankRecord>& records,
                                  const std::vector<SweepSetting>& settings) {
  RepeatedMetrics out;
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
    out.unit = "ms per trace";
  out.same_work = std::ranges::none_of(
      runs, [&](const Run& run) { return work_differs(*runs.front().group, *run.group); });
  for (const Run& run : runs) {
    const double value =
        stepped ? sample_stats(run.steps).mean : run.group->mean_ms(TimeKind::kTotal);
    if (value > 0)
      out.settings[run.setting].runs[run.group->configuration.integer(kRepeat).value_or(1)] = value;
  }
  return out;
}

} // namespace rankscope
