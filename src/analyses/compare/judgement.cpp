#include "analyses/compare/judgement.h"

#include <array>
#include <cmath>

namespace rankscope {

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::array<std::string_view, 6> kNames = {"Better", "Worse",   "Similar",
                                                             "New",    "only in", "only in"};
  static_assert(kNames.size() == static_cast<std::size_t>(Verdict::kOnlyTest) + 1);
  return kNames[static_cast<std::size_t>(verdict)];
}

namespace {

Verdict by_threshold(double change, double threshold_percent) {
  return change > threshold_percent    ? Verdict::kBetter
         : change < -threshold_percent ? Verdict::kWorse
                                       : Verdict::kSimilar;
}

} // namespace

Judgement judge(double base, double test, const std::vector<double>& base_samples,
                const std::vector<double>& test_samples, double threshold_percent, Better better) {
  const double sign = better == Better::kHigher ? -1 : 1;
  Judgement out;
  out.samples_base = base_samples.size();
  out.samples_test = test_samples.size();
  std::optional<double> change = improvement_percent(base, test, better);
  if (!change) {
    out.verdict = Verdict::kNew;
    return out;
  }
  const SampleStats b = sample_stats(base_samples);
  const SampleStats t = sample_stats(test_samples);
  const std::optional<MeanDifference> welch = welch95(b, t);
  bool noise = false;
  if (welch && b.mean != 0) {
    const double middle = -sign * welch->difference / b.mean * 100;
    const double half = std::fabs(welch->half_width / b.mean * 100);
    out.step_change = middle;
    out.low = middle - half;
    out.high = middle + half;
    noise = *out.low <= 0 && *out.high >= 0;
    if (b.n != t.n)
      change = middle;
  }
  out.verdict = noise ? Verdict::kSimilar : by_threshold(*change, threshold_percent);
  // the whole trace and its steps disagree: then there is no answer to give
  if (out.step_change && *out.step_change * *change < 0)
    out.verdict = Verdict::kSimilar;
  return out;
}

Judgement judge(std::optional<double> base, std::optional<double> test,
                const std::vector<double>& base_samples, const std::vector<double>& test_samples,
                double threshold_percent, Better better) {
  if (base && test)
    return judge(*base, *test, base_samples, test_samples, threshold_percent, better);
  Judgement out;
  out.verdict = base ? Verdict::kOnlyBase : Verdict::kOnlyTest;
  return out;
}

Judgement judge_within(double base, double test, std::optional<double> half_percent,
                       double threshold_percent, Better better) {
  Judgement out = judge(base, test, {}, {}, threshold_percent, better);
  const std::optional<double> change = improvement_percent(base, test, better);
  if (!change || !half_percent)
    return out;
  out.low = *change - *half_percent;
  out.high = *change + *half_percent;
  if (*out.low <= 0 && *out.high >= 0)
    out.verdict = Verdict::kSimilar;
  return out;
}

} // namespace rankscope
