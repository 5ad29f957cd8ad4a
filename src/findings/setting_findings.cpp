#include "findings/setting_findings.h"

#include "findings/compose.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kSettingWidth = 40;

/// Returns " ms per step", or "" for a metric without a unit.
std::string unit_suffix(const SettingMetric& metric) {
  return metric.unit.empty() ? "" : " " + metric.unit;
}

/// Returns "12.3 ms per step" or "12.3".
std::string setting_value(double value, const SettingMetric& metric) {
  return number3(value) + unit_suffix(metric);
}

/// Returns kMs for times; there is no Unit for energy and user-defined metrics.
Unit setting_unit(const SettingMetric& metric) {
  return metric.unit.empty() || metric.is_energy ? Unit::kNone : Unit::kMs;
}

std::string runs_each(const SettingVerdict& verdict) {
  std::size_t least = verdict.best.runs;
  std::size_t most = verdict.best.runs;
  for (const RankedSetting& other : verdict.others) {
    least = std::min(least, other.runs);
    most = std::max(most, other.runs);
  }
  return least == most ? fmt::format("{} runs each", most)
                       : fmt::format("{} to {} runs each", least, most);
}

std::string direction_text(const SettingMetric& metric) {
  return metric.higher_is_better ? "; higher is better" : "";
}

Finding best_setting(const SettingVerdict& verdict, const SettingMetric& metric) {
  std::vector<std::string> same = {verdict.best.label};
  for (const RankedSetting& other : verdict.others)
    if (!other.significant())
      same.push_back(other.label);
  const bool alone = same.size() == 1;
  Finding out = finding_of(metric.is_energy ? rules::least_energy : rules::best_setting,
                           alone ? "setting" : "settings", joined(same, "and"));
  out.value = verdict.best.mean;
  out.unit = setting_unit(metric);
  out.scope = FindingScope::kThisRun;
  const std::string best = brief(verdict.best.label, kSettingWidth);
  const std::string value = setting_value(verdict.best.mean, metric);
  if (alone)
    set_headline(out, fmt::format("{} {}: {}", best,
                                  metric.is_energy ? "uses the least energy" : "is best", value));
  else // only `best` was tested against each other setting
    set_headline(out, fmt::format("{} significantly from {} ({})",
                                  same.size() > verdict.others.size() && verdict.once.empty()
                                      ? "No setting differs"
                                      : counted(same.size() - 1, "setting does", "settings do") +
                                            " not differ",
                                  best, metric.is_energy ? "least energy" : "best mean"));
  out.evidence = fmt::format(
      "{}Intervals: {}; a sample is a run; {}{}",
      alone ? std::string() : fmt::format("{}; the best mean is {}. ", joined(same, "and"), value),
      level_text(verdict.comparisons), runs_each(verdict), direction_text(metric));
  return out;
}

Finding worse_setting(const RankedSetting& other, const SettingVerdict& verdict,
                      const SettingMetric& metric) {
  Finding out = finding_of(metric.is_energy ? rules::more_energy : rules::worse_setting, "setting",
                           other.label);
  set_interval(out, other.worse.difference, other.worse.half_width, setting_unit(metric));
  out.scope = FindingScope::kThisRun;
  if (metric.unit == "ms per step")
    out.cost_ms = other.worse.difference;
  const std::string label = brief(other.label, kSettingWidth);
  const std::string best = brief(verdict.best.label, kSettingWidth);
  const std::string difference = setting_value(other.worse.difference, metric);
  set_headline(out, metric.is_energy
                        ? fmt::format("{} uses {} more than {}", label, difference, best)
                    : metric.unit.empty()
                        ? fmt::format("{} is {} {} than {}", label, difference,
                                      metric.higher_is_better ? "lower" : "higher", best)
                        : fmt::format("{} takes {} longer than {}", label, difference, best));
  double finest = other.worse.difference; // its decimals show the difference of the two means
  for (const double mean : {other.mean, verdict.best.mean})
    if (mean != 0)
      finest = std::min(finest, std::fabs(mean));
  out.evidence = fmt::format("{} {}; {} against {}{}", level_text(verdict.comparisons),
                             range3(other.worse), number3(other.mean, finest),
                             number3(verdict.best.mean, finest), unit_suffix(metric));
  return out;
}

/// Reports settings without an interval: settings with one run, or with two runs of equal value.
Finding untested_settings(const SettingVerdict& verdict, const SettingMetric& metric) {
  std::vector<std::string> values;
  std::vector<std::string> labels;
  for (const RankedSetting& setting : verdict.once) {
    labels.push_back(setting.label);
    values.push_back(fmt::format("{}: {}", setting.label, setting_value(setting.mean, metric)));
  }
  const bool compared = !verdict.others.empty();
  if (!compared && !verdict.equal_runs && verdict.best.runs > 1) // only the best setting has
                                                                 // several runs
    values.push_back(fmt::format("{}: {} over {} runs", verdict.best.label,
                                 setting_value(verdict.best.mean, metric), verdict.best.runs));
  Finding out = finding_of(rules::untested_settings, "settings", joined(labels, "and"));
  out.value = static_cast<double>(labels.size());
  out.unit = Unit::kCount;
  out.evidence = joined(values, "and");
  out.action = "Repeat the runs: --repeats";
  const std::string not_compared = metric.is_energy ? "The energy of the settings is not compared: "
                                                    : "The settings are not compared: ";
  if (verdict.equal_runs) {
    set_headline(out, not_compared + "their two runs are exactly equal");
    out.evidence += "; equal runs do not show how much runs scatter";
    out.action = "Check that each run does its own measurement; then use --repeats 3 or more";
  } else if (compared) {
    set_headline(out, counted(labels.size(), "setting with a single run is",
                              "settings with a single run are") +
                          " not compared");
  } else {
    set_headline(out, not_compared + "fewer than two of them have two runs");
  }
  return out;
}

Finding outlier_run(const OutlierRun& run, const SettingMetric& metric) {
  Finding out =
      finding_of(rules::outlier_run, "run", fmt::format("{} repeat {}", run.label, run.repeat));
  out.value = run.value;
  out.unit = setting_unit(metric);
  set_headline(out, fmt::format("Repeat {} of {} is an outlier: {}", run.repeat,
                                brief(run.label, kSettingWidth), setting_value(run.value, metric)));
  out.evidence = fmt::format("The median of the setting is {}", setting_value(run.median, metric));
  out.action = "Check that nothing else ran, or use --warmup";
  return out;
}

} // namespace

std::vector<Finding> setting_findings(const std::vector<RepeatedSetting>& settings,
                                      const SettingMetric& metric) {
  std::vector<Finding> out;
  const std::optional<SettingVerdict> verdict = setting_verdict(settings, metric.higher_is_better);
  if (verdict && !verdict->others.empty()) {
    out.push_back(best_setting(*verdict, metric));
    for (const RankedSetting& other : verdict->others)
      if (other.significant())
        out.push_back(worse_setting(other, *verdict, metric));
  }
  if (verdict && !verdict->once.empty())
    out.push_back(untested_settings(*verdict, metric));
  if (metric.is_energy) // a run whose energy is an outlier is also reported because of its time
    return out;
  for (const OutlierRun& run : outlier_runs(settings))
    out.push_back(outlier_run(run, metric));
  return out;
}

Finding search_finding(const Race& race, const std::vector<std::string>& labels,
                       std::size_t default_setting, const SettingMetric& metric) {
  const RaceOutcome outcome = race.outcome();
  const std::string usual = brief(labels[default_setting], kSettingWidth);
  const std::string leader = brief(labels[outcome.leader], kSettingWidth);
  const std::string rounds = counted(race.rounds(), "round", "rounds");
  Finding out =
      finding_of(outcome.recommended ? rules::recommended_setting : rules::no_recommendation,
                 "setting", labels[outcome.leader]);
  out.scope = FindingScope::kThisRun;
  if (!outcome.gain) {
    set_headline(out, "No setting is recommended in place of " + usual);
    out.evidence =
        outcome.shared == 0 ? "The default has no value, so no setting is compared with it"
        : outcome.leader == default_setting ? fmt::format("The default leads after {}", rounds)
        : outcome.shared < 2
            ? fmt::format("{} leads, but a comparison needs two rounds", leader)
            : fmt::format("{} leads, but two equal differences do not show how much rounds scatter",
                          leader);
    return out;
  }
  set_interval(out, outcome.gain->difference, outcome.gain->half_width, setting_unit(metric));
  const char* const better = metric.higher_is_better ? "higher"
                             : metric.unit.empty()   ? "lower"
                                                     : "shorter";
  const std::string gain = fmt::format("{} {} than the default",
                                       setting_value(outcome.gain->difference, metric), better);
  const std::string how =
      fmt::format("95 % CI over all settings and rounds {}; paired by round, {}",
                  range3(*outcome.gain), rounds);
  if (outcome.recommended) {
    set_headline(out, fmt::format("{} is recommended: {} {}", leader, gain, usual));
    out.evidence = how;
    return out;
  }
  set_headline(out, "No setting is recommended in place of " + usual);
  out.evidence = fmt::format("{} leads: {}, which is not significant; {}", leader, gain, how);
  return out;
}

std::optional<Finding> not_ranked_finding(const std::vector<Finding>& findings) {
  const auto found = std::ranges::find(findings, rules::not_ranked.id, &Finding::rule);
  return found == findings.end() ? std::nullopt : std::optional(*found);
}

Finding unused_settings(const std::vector<std::string>& labels) {
  Finding out = finding_of(rules::unused_settings, "settings", joined(labels, "and"));
  out.value = static_cast<double>(labels.size());
  out.unit = Unit::kCount;
  set_headline(out, counted(labels.size(), "setting is", "settings are") +
                        std::string(" left out: the library did not use the value that was set"));
  out.evidence = joined(labels, "and");
  return out;
}

} // namespace rankscope
