#include "analyses/compare/judgement.h"

#include "base/sample_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::array<std::string_view, kVerdicts> kNames = {
      "Better", "Worse", "Similar", "New", "only in", "only in", "Not judged"};
  static_assert(kNames.size() == static_cast<std::size_t>(Verdict::kUnknown) + 1);
  return kNames[static_cast<std::size_t>(verdict)];
}

namespace {

bool enough(const SampleStats& base, const SampleStats& test) {
  return base.n >= 2 && test.n >= 2;
}

/// Returns the samples with the assumed noise; if there are no samples, one sample is used:
/// `s.mean`, or `value` if `s.mean` is 0.
SampleStats assumed(SampleStats s, double value, double noise_percent) {
  if (s.n == 0)
    s = {1, s.mean != 0 ? s.mean : value, 0};
  s.variance = std::pow(noise_percent / 100 * s.mean, 2);
  return s;
}

double variance_of(const SampleStats& base, const SampleStats& test) {
  return base.variance / static_cast<double>(base.n) + test.variance / static_cast<double>(test.n);
}

/// Returns the interval for a known variance, from the normal distribution.
MeanDifference known_variance(const SampleStats& base, const SampleStats& test, double alpha) {
  constexpr double kManyDegrees = 1e6;
  return {test.mean - base.mean,
          student_t(kManyDegrees, alpha) * std::sqrt(variance_of(base, test))};
}

/// Returns the verdict if it does not depend on the samples.
std::optional<Verdict> without_samples(const Measured& m) {
  if (!m.base && !m.test)
    return Verdict::kUnknown;
  if (!m.base || !m.test)
    return m.base ? Verdict::kOnlyBase : Verdict::kOnlyTest;
  if (std::isnan(*m.base) || std::isnan(*m.test))
    return Verdict::kUnknown;
  if (*m.base == 0)
    return *m.test == 0 ? Verdict::kSimilar : Verdict::kNew;
  return std::nullopt;
}

bool judgeable(const Measured& m, const JudgeRule& rule) {
  // a complete run is compared with another complete run, not with steps
  return !without_samples(m) &&
         (enough(m.base_samples, m.test_samples) ||
          (rule.assumed_noise_percent && (m.base_samples.n == 0) == (m.test_samples.n == 0)));
}

Verdict verdict_of(const Judgement& j, double value_change, double threshold_percent) {
  if (*j.low <= 0 && *j.high >= 0)
    return Verdict::kSimilar;
  if (goes_both_ways(j, value_change))
    return Verdict::kSimilar;
  return *j.change > threshold_percent    ? Verdict::kBetter
         : *j.change < -threshold_percent ? Verdict::kWorse
                                          : Verdict::kSimilar;
}

} // namespace

bool goes_both_ways(const Judgement& j, double improvement) {
  return j.change && j.samples_base == j.samples_test && *j.change * improvement < 0;
}

bool below_threshold(const Judgement& j, double improvement) {
  return j.verdict == Verdict::kSimilar && j.low && (*j.low > 0 || *j.high < 0) &&
         !goes_both_ways(j, improvement);
}

std::string change_text(const Judgement& j) {
  const bool worse = *j.change < 0;
  return fmt::format("{:.2f} % {} (95 % CI {:.2f} to {:.2f} %{})", std::fabs(*j.change),
                     worse ? "worse" : "better", worse ? -*j.high : *j.low,
                     worse ? -*j.low : *j.high, j.assumed ? ", assumed noise" : "");
}

double scatter_of(std::vector<double> changes) {
  static constexpr std::array<double, 10> kFew = {0,     0,     1.196, 1.495, 1.363,
                                                  1.206, 1.200, 1.140, 1.129, 1.107};
  if (changes.size() < 2)
    return 0;
  const auto n = static_cast<double>(changes.size());
  const double factor = changes.size() < kFew.size() ? kFew[changes.size()] : n / (n - 0.8);
  const double middle = quantile_of(changes, 0.5);
  for (double& change : changes)
    change = std::fabs(change - middle);
  const double deviation = 1.4826 * factor * quantile_of(std::move(changes), 0.5);
  return deviation * deviation;
}

void set_scatter(std::vector<Measured>& rows, const std::vector<std::size_t>& same_metric) {
  std::vector<double> changes;
  for (const std::size_t i : same_metric)
    if (enough(rows[i].base_samples, rows[i].test_samples))
      changes.push_back(rows[i].test_samples.mean - rows[i].base_samples.mean);
  const double scatter = scatter_of(std::move(changes));
  for (const std::size_t i : same_metric)
    rows[i].between_runs = scatter;
}

std::optional<MeanDifference> difference_of(const SampleStats& base, const SampleStats& test,
                                            const JudgeRule& rule, std::size_t rows,
                                            bool& assumed_noise) {
  if (enough(base, test))
    return welch_dependent(base, test, corrected_alpha(rows), rule.step_correlation);
  if (!rule.assumed_noise_percent)
    return std::nullopt;
  assumed_noise = true;
  return known_variance(assumed(base, base.mean, *rule.assumed_noise_percent),
                        assumed(test, test.mean, *rule.assumed_noise_percent),
                        corrected_alpha(rows));
}

Judgement judge_row(const Measured& row, const JudgeRule& rule, std::size_t rows) {
  Judgement out;
  out.samples_base = row.base_samples.n;
  out.samples_test = row.test_samples.n;
  if (const auto plain = without_samples(row)) {
    out.verdict = *plain;
    return out;
  }
  SampleStats base = row.base_samples;
  SampleStats test = row.test_samples;
  if (judgeable(row, rule) && !enough(base, test)) {
    base = assumed(base, *row.base, *rule.assumed_noise_percent);
    test = assumed(test, *row.test, *rule.assumed_noise_percent);
  }
  if (base.n == 0 || test.n == 0 || base.mean == 0) // the steps can be 0, though the run is not
    return out;
  const auto percent = [&](double value) { return value / std::fabs(base.mean) * 100; };
  const double sign = row.better == Better::kHigher ? 1 : -1;
  const double change = sign * percent(test.mean - base.mean);
  if (!std::isfinite(change)) // from a damaged saved baseline, or too large
    return out;
  out.change = change + 0.0; // 0, not -0
  const std::optional<MeanDifference> interval = difference_of(base, test, rule, rows, out.assumed);
  if (!interval)
    return out;
  double half = percent(interval->half_width);
  if (const double within = variance_of(base, test); within > 0 && !out.assumed)
    half *= std::sqrt(1 + row.between_runs / within);
  if (!std::isfinite(half))
    return out;
  out.low = *out.change - half;
  out.high = *out.change + half;
  if (rule.same_work)
    out.verdict = verdict_of(out, improvement_percent(*row.base, *row.test, row.better).value_or(0),
                             rule.threshold_percent);
  return out;
}

std::vector<Judgement> judge_all(std::span<const Measured> rows, const JudgeRule& rule) {
  std::size_t judged = 0;
  for (const Measured& m : rows)
    judged += judgeable(m, rule) ? 1 : 0;
  std::vector<Judgement> out;
  out.reserve(rows.size());
  for (const Measured& m : rows)
    out.push_back(judge_row(m, rule, judged));
  return out;
}

Judgement judge(const Measured& row, const JudgeRule& rule) {
  return judge_row(row, rule, 1);
}

} // namespace rankscope
