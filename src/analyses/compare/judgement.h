// Rules that decide whether a difference is significant: the interval of the samples' difference,
// corrected for the rows that are judged together, and a threshold (docs/reference/compare-rules.md
// 2).
#pragma once

#include "base/statistics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// kUnknown: fewer than two samples on a side, so that the noise of the difference is unknown, or
/// the runs do different work.
enum class Verdict : std::uint8_t {
  kBetter,
  kWorse,
  kSimilar,
  kNew,
  kOnlyBase,
  kOnlyTest,
  kUnknown
};
inline constexpr std::size_t kVerdicts = 7;
/// Returns "Better", "Worse", "Similar", "New", "only in" (both) or "Not judged".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

struct JudgeRule {
  double threshold_percent = 1; ///< smaller changes are Similar
  /// Standard deviation of a sample in percent of the sample's value; used if a side has fewer than
  /// two samples.
  std::optional<double> assumed_noise_percent;
  /// Lag-1 correlation of the runs' steps, 0 or more: widens every interval.
  double step_correlation = 0;
  /// Resolution of the clock, ns: recorded times are rounded to it.
  std::int64_t clock_ns = 1;
  /// False: nothing is Better, Worse or Similar, because the runs do different work.
  bool same_work = true;
  /// Judge different work too, for example the same batch with recomputation.
  bool any_work = false;
};

/// A difference with its noise. Percentages of the baseline, positive = better. `change`, `low` and
/// `high` come from the same samples. With one sample on a side, `low` and `high` are empty.
struct Judgement {
  Verdict verdict = Verdict::kUnknown;
  std::size_t samples_base = 0, samples_test = 0;
  std::optional<double> change;    ///< change of the samples' means
  std::optional<double> low, high; ///< interval of `change`; 95 % confidence for all rows together
  bool assumed = false;            ///< the interval comes from the assumed noise, not from data

  /// Returns whether only one side has samples. A complete run is not compared with steps.
  [[nodiscard]] bool lacks_steps() const { return (samples_base == 0) != (samples_test == 0); }
  /// Returns the change that is shown: `change`, else the change of the complete runs
  /// (`improvement`). Empty if runs without `change` differ in their number of samples, because
  /// complete runs of different lengths are not comparable.
  [[nodiscard]] std::optional<double> estimate(std::optional<double> improvement) const {
    return change || samples_base != samples_test ? change : improvement;
  }
};

/// Returns whether the samples (equally many per side) and the complete trace (`improvement`, in
/// percent) change in opposite directions. In this case, the result is not clear.
[[nodiscard]] bool goes_both_ways(const Judgement& j, double improvement);

/// Returns whether the interval excludes 0, but the change is not beyond the threshold.
[[nodiscard]] bool below_threshold(const Judgement& j, double improvement);
/// Returns "2.88 % worse (95 % CI 2.78 to 2.99 %)": the signs agree with the word. Requires a
/// change.
[[nodiscard]] std::string change_text(const Judgement& j);

/// A metric of both sides as shown in tables (empty if a side lacks the metric), and the samples.
struct Measured {
  std::optional<double> base, test;
  SampleStats base_samples, test_samples;
  Better better = Better::kLower;
  /// Variance of the difference from run to run, in addition to the variance of the samples of one
  /// run; in the square of the unit.
  double between_runs = 0;
};

/// Returns the variance of the changes of one metric on several ranks around their median. It is
/// computed from the median absolute deviation, with the factors for few values of Croux and
/// Rousseeuw (1992). So one rank that changes differently counts as an effect, not as noise. The
/// result includes the samples' noise, because a few ranks are not enough to separate that noise. 0
/// for fewer than two changes.
[[nodiscard]] double scatter_of(std::vector<double> changes);
/// Sets `between_runs` of these rows (one metric on several ranks) to the scatter_of() of their
/// changes. Times that include the wait for other ranks need this. Which rank waits for which
/// varies from run to run (placement, GPU speeds); the samples of one run do not show this.
void set_scatter(std::vector<Measured>& rows, const std::vector<std::size_t>& same_metric);

/// Returns the verdicts of the metrics of one table. Better and Worse require an interval (Welch)
/// of the difference of the samples' means that excludes 0. The rows that can be judged share the
/// error rate of 5 % (Bonferroni). The change of the means must also exceed the threshold and have
/// the sign of the metric's change. With fewer than two samples on a side, the verdict is kUnknown
/// or, if there is an assumed noise, follows the same rule with this noise and the normal
/// distribution (without samples, the metric is the sample). kNew: only the base is 0. Both 0:
/// Similar.
[[nodiscard]] std::vector<Judgement> judge_all(std::span<const Measured> rows,
                                               const JudgeRule& rule);
/// Returns the verdict of a row that is judged alone.
[[nodiscard]] Judgement judge(const Measured& row, const JudgeRule& rule);

/// Returns the result of judge_all() for one of `rows` rows that are judged together.
[[nodiscard]] Judgement judge_row(const Measured& row, const JudgeRule& rule, std::size_t rows);

/// Returns the interval of the difference of two means, at the level for `rows` rows that are
/// judged together. It is Welch's interval, with fewer degrees of freedom and more variance if the
/// steps depend on each other. With too few samples, it comes from the rule's assumed noise and
/// `assumed` is set. Empty if there is no assumed noise either.
[[nodiscard]] std::optional<MeanDifference> difference_of(const SampleStats& base,
                                                          const SampleStats& test,
                                                          const JudgeRule& rule, std::size_t rows,
                                                          bool& assumed);

} // namespace rankscope
