// Whether a difference is one: the interval of the samples' difference, corrected for the rows that
// are judged together, and a threshold (docs/reference/compare-rules.md 2).
#pragma once

#include "base/statistics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// kUnknown: fewer than two samples on a side, so that nothing tells the difference from noise.
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
/// "Better", "Worse", "Similar", "New", "only in" (both), "Not judged".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

struct JudgeRule {
  double threshold_percent = 1; ///< smaller changes are Similar
  /// Standard deviation of one sample, percent of its value, where the data have one sample only.
  std::optional<double> assumed_noise_percent;
  /// Lag-1 correlation of the runs' steps, 0 or more: widens every interval.
  double step_correlation = 0;
  /// Resolution of the clock, ns: equal times may differ by less.
  std::int64_t clock_ns = 1;
};

/// A difference with its noise. Percentages of the baseline, positive = better. `change`, `low` and
/// `high` are of the same samples.
struct Judgement {
  Verdict verdict = Verdict::kUnknown;
  std::size_t samples_base = 0, samples_test = 0;
  std::optional<double> change;    ///< of the means of the samples
  std::optional<double> low, high; ///< interval of `change`; together with the other rows' 95 %
  bool assumed = false;            ///< the interval is of the assumed noise, not of data
};

/// The samples, as many on both sides, go one way and the whole trace's figures (`improvement`, in
/// percent) the other: then there is no answer to give.
[[nodiscard]] bool goes_both_ways(const Judgement& j, double improvement);

/// The interval leaves 0 out, but the change is not beyond the threshold.
[[nodiscard]] bool below_threshold(const Judgement& j, double improvement);
/// "2.88 % worse (95 % CI 2.78 to 2.99 %)": the signs are those of the word. Only with a change.
[[nodiscard]] std::string change_text(const Judgement& j);

/// A figure of both sides as tables show it (none where a side lacks it), and its samples.
struct Measured {
  std::optional<double> base, test;
  SampleStats base_samples, test_samples;
  Better better = Better::kLower;
  /// Variance of the difference beyond what the samples of one run show; the unit's square.
  double between_runs = 0;
};

/// How far changes that stand for one thing on several ranks scatter around their median, as a
/// variance: median absolute deviation, with the factors for few values of Croux and Rousseeuw
/// (1992), so that one rank that goes another way counts as an effect and not as noise. It holds
/// what the samples' noise explains: of few ranks the rest is not known well enough to take that
/// out. 0 for fewer than two changes.
[[nodiscard]] double scatter_of(std::vector<double> changes);
/// Sets `between_runs` of these rows, one thing on several ranks, to their scatter_of(). Times that
/// hold the wait for other ranks need it: who waits for whom moves from run to run (placement,
/// speeds of the GPUs), which the samples of one run do not show.
void take_scatter(std::vector<Measured>& rows, const std::vector<std::size_t>& of_one_thing);

/// Verdicts of figures that stand in one table. Better and Worse only when the interval (Welch) of
/// the difference of the samples' means leaves 0 out, with the error rate of 5 % shared among the
/// rows that can be judged (Bonferroni), and the change of the means exceeds the threshold and has
/// the sign of the figures' change. With one sample (or none: the figure is then the sample) on a
/// side: kUnknown, or the same rule with the assumed noise and the normal distribution. kNew: only
/// the base is 0. Both 0: Similar.
[[nodiscard]] std::vector<Judgement> judge_all(std::span<const Measured> rows,
                                               const JudgeRule& rule);
/// One alone.
[[nodiscard]] Judgement judge(const Measured& row, const JudgeRule& rule);

/// As judge_all(), of one row of `rows` that are judged together.
[[nodiscard]] Judgement judge_row(const Measured& row, const JudgeRule& rule, std::size_t rows);

/// The interval of the difference of two means at the level of `rows` that are judged together:
/// Welch's of the samples, with fewer degrees and more variance where steps depend on each other;
/// else with the rule's assumed noise (`assumed` is set then). None when the samples are too few
/// and no noise is assumed.
[[nodiscard]] std::optional<MeanDifference> difference_of(const SampleStats& base,
                                                          const SampleStats& test,
                                                          const JudgeRule& rule, std::size_t rows,
                                                          bool& assumed);

} // namespace rankscope
