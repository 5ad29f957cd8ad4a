// Successive elimination: each round runs every remaining setting once and drops settings that are
// significantly worse than the leader. So the search spends its time on settings that may be best.
#pragma once

#include "base/statistics.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace rankscope {

/// The result of a race. Values are times: lower is better.
struct RaceOutcome {
  /// The setting with the lowest mean over the rounds that it shares with the default.
  std::size_t leader = 0;
  std::size_t shared = 0; ///< rounds in which the leader and the default have values
  /// Time saved compared with the default, from the pairs of runs in one round. nullopt with fewer
  /// than two such rounds, or if the default leads.
  std::optional<MeanDifference> gain;
  bool recommended = false; ///< the interval of the gain is above 0
};

/// Intervals are Student's t over the differences of two settings in one round, so that changes
/// between rounds that affect both settings are not noise. Equal differences do not mean certainty:
/// their variance is at least that of rounding to decimal_step() of the values, and only two equal
/// differences give no interval. Settings are dropped at 95 %, corrected for the number of
/// settings: dropping a setting too early may miss the best one, but never makes the recommendation
/// wrong. The recommendation is checked after each round, so its level is corrected for all
/// settings and rounds (Bonferroni): of twenty races without a real difference, at most one
/// recommends a setting on average.
class Race {
public:
  /// `default_setting` is run in every round.
  Race(std::size_t settings, std::size_t default_setting, std::size_t most_rounds);

  [[nodiscard]] const std::vector<std::size_t>& left() const { return left_; }
  /// Adds one value for each setting of left(), in its order. nullopt: the run failed, so the
  /// setting is dropped, and the settings that were dropped because of it take part again.
  void add_round(const std::vector<std::optional<double>>& times);
  /// Returns true if more rounds cannot help: all rounds are done, only the default is left, or
  /// only the default and a recommended leader are left.
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
  std::vector<std::optional<std::size_t>> worse_than_; ///< by setting: the leader that dropped it
  std::vector<std::vector<std::optional<double>>> times_; ///< by setting, then by round
};

} // namespace rankscope
