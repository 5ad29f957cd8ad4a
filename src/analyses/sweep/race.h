// Racing settings: each round runs those that are left once; a setting that is told to be worse
// than the leading one leaves. A search that spends its time on what may be best.
#pragma once

#include "base/statistics.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace rankscope {

/// What a race came to. Figures are times: lower is better.
struct RaceOutcome {
  std::size_t leader = 0; ///< least mean over the rounds that it shares with the default
  /// How much shorter than the default it is, of the pairs of runs of one round; none with fewer
  /// than two such rounds, or when the default leads.
  std::optional<MeanDifference> gain;
  bool recommended = false; ///< the interval of the gain leaves 0 out
};

/// Intervals are Student's t over the differences of two settings in one round, so that what
/// changes from round to round for both is not noise. Equal differences are not certainty: they
/// scatter at least as rounding to decimal_step() of the values does, and two of them show nothing.
/// Leaving is decided at 95 % over the settings:
/// a setting that leaves too early costs the result, never its truth. The recommendation is looked
/// at after each round: its level is corrected for all settings and rounds (Bonferroni), so that a
/// race without any difference recommends in one of twenty at most.
class Race {
public:
  /// `default_setting` takes part in every round.
  Race(std::size_t settings, std::size_t default_setting, std::size_t most_rounds);

  [[nodiscard]] const std::vector<std::size_t>& left() const { return left_; }
  /// A figure for each of left(), in its order; none = the run failed, and the setting leaves.
  void add_round(const std::vector<std::optional<double>>& figures);
  /// Nothing more to be learnt: all rounds are done, the default alone is left, or the leader is
  /// recommended and nobody else is left beside the default.
  [[nodiscard]] bool over() const;
  [[nodiscard]] RaceOutcome outcome() const;
  [[nodiscard]] std::size_t rounds() const { return rounds_; }

private:
  [[nodiscard]] std::vector<double> differences(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::optional<MeanDifference> interval(std::size_t a, std::size_t b,
                                                       double alpha) const;
  [[nodiscard]] std::size_t leader() const;

  std::size_t default_, most_rounds_;
  std::size_t rounds_ = 0;
  std::vector<std::size_t> left_;
  std::vector<std::vector<std::optional<double>>> figures_; ///< by setting, by round
};

} // namespace rankscope
