#include "analyses/compare/judgement.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope {

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::array<std::string_view, kVerdicts> kNames = {
      "Better", "Worse", "Similar", "New", "only in", "only in", "Not judged"};
  static_assert(kNames.size() == static_cast<std::size_t>(Verdict::kUnknown) + 1);
  return kNames[static_cast<std::size_t>(verdict)];
}

namespace {

bool enough(const WelchTerm& t) {
  return t.base.n >= 2 && t.test.n >= 2;
}

/// The samples with the assumed noise; without samples their mean, or the figure, is the only one.
SampleStats assumed(SampleStats s, double figure, double noise_percent) {
  if (s.n == 0)
    s = {1, s.mean != 0 ? s.mean : figure, 0};
  s.variance = std::pow(noise_percent / 100 * s.mean, 2);
  return s;
}

double variance_of(std::span<const WelchTerm> terms) {
  double out = 0;
  for (const WelchTerm& t : terms)
    out += t.weight * t.weight *
           (t.base.variance / static_cast<double>(t.base.n) +
            t.test.variance / static_cast<double>(t.test.n));
  return out;
}

/// The interval with a known variance: the normal distribution's.
MeanDifference known_variance(std::span<const WelchTerm> terms, double alpha) {
  constexpr double kManyDegrees = 1e6;
  MeanDifference out;
  for (const WelchTerm& t : terms)
    out.difference += t.weight * (t.test.mean - t.base.mean);
  out.half_width = student_t(kManyDegrees, alpha) * std::sqrt(variance_of(terms));
  return out;
}

/// What can be said without looking at samples.
std::optional<Verdict> without_samples(const MeasuredSum& m) {
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

MeasuredSum sum_of(const Measured& m) {
  return {m.base, m.test, m.better, {{m.base_samples, m.test_samples, 1}}, m.between_runs};
}

bool judgeable(const MeasuredSum& m, const JudgeRule& rule) {
  return !without_samples(m) && !m.terms.empty() &&
         (rule.assumed_noise_percent || std::all_of(m.terms.begin(), m.terms.end(), enough));
}

Verdict verdict_of(const Judgement& j, double figures_change, double threshold_percent) {
  if (*j.low <= 0 && *j.high >= 0)
    return Verdict::kSimilar;
  if (goes_both_ways(j, figures_change))
    return Verdict::kSimilar;
  return *j.change > threshold_percent    ? Verdict::kBetter
         : *j.change < -threshold_percent ? Verdict::kWorse
                                          : Verdict::kSimilar;
}

} // namespace

bool goes_both_ways(const Judgement& j, double improvement) {
  return j.change && j.samples_base == j.samples_test && *j.change * improvement < 0;
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

void take_scatter(std::vector<Measured>& rows, const std::vector<std::size_t>& of_one_thing) {
  std::vector<double> changes;
  for (const std::size_t i : of_one_thing)
    if (enough({rows[i].base_samples, rows[i].test_samples, 1}))
      changes.push_back(rows[i].test_samples.mean - rows[i].base_samples.mean);
  const double scatter = scatter_of(std::move(changes));
  for (const std::size_t i : of_one_thing)
    rows[i].between_runs = scatter;
}

std::optional<MeanDifference> difference_of(const SampleStats& base, const SampleStats& test,
                                            const JudgeRule& rule, std::size_t rows,
                                            bool& assumed_noise) {
  const WelchTerm term{base, test};
  if (enough(term))
    return welch(base, test, corrected_alpha(rows));
  if (!rule.assumed_noise_percent)
    return std::nullopt;
  assumed_noise = true;
  const WelchTerm with_noise{assumed(base, base.mean, *rule.assumed_noise_percent),
                             assumed(test, test.mean, *rule.assumed_noise_percent)};
  return known_variance({&with_noise, 1}, corrected_alpha(rows));
}

Judgement judge_sum(const MeasuredSum& sum, const JudgeRule& rule, std::size_t rows) {
  Judgement out;
  for (const WelchTerm& t : sum.terms) {
    out.samples_base += t.base.n;
    out.samples_test += t.test.n;
  }
  if (const auto plain = without_samples(sum)) {
    out.verdict = *plain;
    return out;
  }
  if (!judgeable(sum, rule))
    return out;
  std::vector<WelchTerm> terms = sum.terms;
  out.assumed = !std::all_of(terms.begin(), terms.end(), enough);
  if (out.assumed)
    for (WelchTerm& t : terms) {
      t.base = assumed(t.base, *sum.base, *rule.assumed_noise_percent);
      t.test = assumed(t.test, *sum.test, *rule.assumed_noise_percent);
    }
  const double alpha = corrected_alpha(rows);
  MeanDifference interval = out.assumed ? known_variance(terms, alpha) : *welch(terms, alpha);
  if (const double within = variance_of(terms); within > 0 && !out.assumed)
    interval.half_width *= std::sqrt(1 + sum.between_runs / within);
  double base_mean = 0;
  for (const WelchTerm& t : terms)
    base_mean += t.weight * t.base.mean;
  if (base_mean == 0) // no steps of the baseline have it, though the run does
    return out;
  const double sign = sum.better == Better::kHigher ? 1 : -1;
  const double half = interval.half_width / std::fabs(base_mean) * 100;
  const double change = sign * interval.difference / std::fabs(base_mean) * 100;
  if (!std::isfinite(change) ||
      !std::isfinite(half)) // of an older saved baseline, or beyond doubles
    return out;
  out.change = change;
  out.low = *out.change - half;
  out.high = *out.change + half;
  out.verdict = verdict_of(out, improvement_percent(*sum.base, *sum.test, sum.better).value_or(0),
                           rule.threshold_percent);
  return out;
}

std::vector<Judgement> judge_all(std::span<const Measured> rows, const JudgeRule& rule) {
  std::size_t judged = 0;
  for (const Measured& m : rows)
    judged += judgeable(sum_of(m), rule) ? 1 : 0;
  std::vector<Judgement> out;
  out.reserve(rows.size());
  for (const Measured& m : rows)
    out.push_back(judge_sum(sum_of(m), rule, judged));
  return out;
}

Judgement judge(const Measured& row, const JudgeRule& rule) {
  return judge_all({&row, 1}, rule).front();
}

} // namespace rankscope
