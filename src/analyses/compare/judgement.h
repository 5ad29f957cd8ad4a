// Whether a difference is one: threshold and noise (docs/reference/compare-rules.md 2).
#pragma once

#include "base/statistics.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

enum class Verdict : std::uint8_t { kBetter, kWorse, kSimilar, kNew, kOnlyBase, kOnlyTest };
/// "Better", "Worse", "Similar", "New"; of the last two "only in".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// A difference with its noise. Percentages of the baseline, positive = better.
struct Judgement {
  Verdict verdict = Verdict::kSimilar;
  std::size_t samples_base = 0, samples_test = 0;
  std::optional<double> step_change; ///< from the means of the samples
  std::optional<double> low, high;   ///< 95 % confidence interval of step_change
};

/// Better or Worse only when the change exceeds the threshold and, with two samples or more on both
/// sides, the 95 % interval of the difference of means (Welch) does not hold 0. The change is that
/// of `base` and `test`, or of the samples when their numbers differ (the windows then differ).
/// kNew: only the base is 0.
[[nodiscard]] Judgement judge(double base, double test, const std::vector<double>& base_samples,
                              const std::vector<double>& test_samples, double threshold_percent,
                              Better better = Better::kLower);

/// The same for figures that a side may lack: kOnlyBase, kOnlyTest.
[[nodiscard]] Judgement judge(std::optional<double> base, std::optional<double> test,
                              const std::vector<double>& base_samples,
                              const std::vector<double>& test_samples, double threshold_percent,
                              Better better = Better::kLower);

/// The same with an interval made elsewhere, around the change, `half_percent` to both sides.
[[nodiscard]] Judgement judge_within(double base, double test, std::optional<double> half_percent,
                                     double threshold_percent, Better better);

} // namespace rankscope
