#include "findings/sweep_pair_findings.h"

#include "findings/compose.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kSweepWidth = 30;

} // namespace

std::vector<Finding> sweep_time_findings(const SweepPair& pair, TimeKind kind,
                                         const SweepDifference& d) {
  if (d.shared == 0)
    return {};
  const std::string base = brief(pair.base, kSweepWidth);
  const std::string test = brief(pair.test, kSweepWidth);
  const std::string what(time_kind_name(kind));
  const std::string over =
      fmt::format("{:.3f} against {:.3f} ms over {}", d.test_ms, d.base_ms,
                  counted(d.shared, "shared configuration", "shared configurations"));
  const bool significant =
      d.difference && std::fabs(d.difference->difference) > d.difference->half_width;
  Finding out = finding_of(!d.difference ? rules::untested_sweep
                           : significant ? rules::changed_sweep
                                         : rules::same_sweep,
                           "sweep", fmt::format("{}: {}", pair.test, what));
  if (!d.difference) {
    set_headline(out, fmt::format("{} of {} and {} is not compared", what, test, base));
    out.evidence =
        "Mean of the runs: " + over + "; without three profiler steps in each there is no interval";
    return {out};
  }
  const MeanDifference& difference = *d.difference;
  out.steps = d.steps;
  const std::string steps = counted(d.steps, "step", "steps");
  const std::string over_all = fmt::format(" over {} comparisons", pair.comparisons);
  if (!significant) {
    out.unit = Unit::kMs;
    out.value = difference.difference;
    out.low = difference.difference - difference.half_width;
    out.high = difference.difference + difference.half_width;
    out.detectable = difference.half_width;
    set_headline(out,
                 fmt::format("{} of {} and {} does not differ significantly", what, test, base));
    out.evidence = fmt::format("95 % CI of the difference {} ms{}; {}; {}", range3(difference),
                               over_all, over, steps);
    return {out};
  }
  set_interval(out, difference.difference, difference.half_width, Unit::kMs);
  if (difference.difference > 0)
    out.cost_ms = difference.difference;
  set_headline(
      out,
      fmt::format("{} of {} is {} ms {} per step than that of {}{}", what, test,
                  number3(std::fabs(difference.difference)),
                  difference.difference < 0 ? "shorter" : "longer", base,
                  d.base_ms > 0
                      ? fmt::format(" ({})", percent_text(100 * std::fabs(difference.difference) /
                                                          d.base_ms))
                      : std::string()));
  out.evidence =
      fmt::format("95 % CI {} ms{}; {}; {}", amounts3(difference), over_all, over, steps);
  out.action = kRepeatTheRuns;
  return {out};
}

std::vector<Finding> sweep_row_findings(const SweepPair& pair, const std::string& metric,
                                        const char* row, const std::vector<SweepPairRow>& rows) {
  std::vector<double> percent;
  for (const SweepPairRow& r : rows)
    if (r.base > 0 && !std::isnan(r.test))
      percent.push_back(100 * (r.test - r.base) / r.base);
  if (percent.empty())
    return {};
  Finding out =
      finding_of(rules::untested_sweep, "sweep", fmt::format("{}: {}", pair.test, metric));
  out.value = sample_stats(percent).mean;
  out.unit = Unit::kPercent;
  set_headline(out,
               fmt::format("{} of {}: {:.2f} % {} than {}, without a test", capital(metric),
                           brief(pair.test, kSweepWidth), std::fabs(*out.value),
                           *out.value < 0 ? "smaller" : "larger", brief(pair.base, kSweepWidth)));
  const std::string many = std::string(row) + "s";
  out.evidence =
      fmt::format("Mean over {}; {} of one run are not independent, so there is no "
                  "interval",
                  counted(percent.size(), std::string("shared ") + row, "shared " + many), many);
  return {out};
}

std::vector<Finding> time_range_findings(const std::string& sweep, TimeKind kind,
                                         std::span<const ConfigurationRow> configurations) {
  const ConfigurationRow* low = nullptr;
  const ConfigurationRow* high = nullptr;
  std::size_t known = 0;
  for (const ConfigurationRow& row : configurations) {
    if (std::isnan(row.mean(kind)))
      continue;
    ++known;
    low = low == nullptr || row.mean(kind) < low->mean(kind) ? &row : low;
    high = high == nullptr || row.mean(kind) > high->mean(kind) ? &row : high;
  }
  if (low == nullptr)
    return {};
  const std::string what(time_kind_name(kind));
  Finding out = finding_of(rules::time_range, "sweep", fmt::format("{}: {}", sweep, what));
  out.value = high->mean(kind) - low->mean(kind);
  out.unit = Unit::kMs;
  const std::string subject = fmt::format("Mean {} of {}", what, brief(sweep, kSweepWidth));
  if (known == 1) {
    set_headline(out, fmt::format("{}: {} ms", subject, number3(low->mean(kind))));
    out.evidence = "Its only configuration is " + brief(low->label, kHeadlineWidth);
    return {out};
  }
  set_headline(out, fmt::format("{}: {} ms", subject, range3(low->mean(kind), high->mean(kind))));
  out.evidence = fmt::format("{:.3f} ms with {}, {:.3f} ms with {}; means over the ranks of {} "
                             "configurations, without a test",
                             low->mean(kind), brief(low->label, kHeadlineWidth), high->mean(kind),
                             brief(high->label, kHeadlineWidth), known);
  return {out};
}

} // namespace rankscope
