// What changed between two runs: the difference of the step time divided among kernels,
// collectives, copies and idle time, among operators, and among steps; what of it is beyond the
// noise, most first (docs/reference/compare-rules.md 4).
#pragma once

#include "analyses/compare/judgement.h"
#include "analyses/compare/step_work.h"
#include "core/table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Whether both runs have it. kReplaced: the baseline has another kernel at the same place.
enum class ChangeState : std::uint8_t { kBoth, kNew, kVanished, kReplaced };
/// "in both", "new", "vanished", "replaced".
[[nodiscard]] std::string_view change_state_name(ChangeState state);

/// A row of one of the lists. Times are own times a step, milliseconds, mean over steps and ranks.
struct Change {
  /// "kernel", "collective", "copy", "idle time", "wait at collectives", "operator", "step"
  std::string what;
  std::string name, old_name; ///< old_name: of what was replaced
  std::string op, shapes;     ///< of kernels, collectives and copies
  ChangeState state = ChangeState::kBoth;
  double base_ms = 0, test_ms = 0;
  double difference_ms = 0; ///< test - base; of a step its part of the mean's
  std::optional<double> base_launches, test_launches; ///< a step, mean over ranks
  std::optional<double> low_ms, high_ms;              ///< of difference_ms; all rows together 95 %
  std::optional<double> share_percent; ///< of the step time's difference, where that is one
  bool told = false;                   ///< a change: beyond the noise and the threshold
  bool below_threshold = false;        ///< beyond the noise, not beyond the threshold
};

/// One way to divide the difference; the rows' differences add up to it.
struct ChangeList {
  std::vector<Change> rows;  ///< the told ones first, each part by size of the difference
  std::size_t told = 0;      ///< how many are
  std::size_t below = 0;     ///< how many are below the threshold
  double explained_ms = 0;   ///< sum of the differences of the told rows
  double below_ms = 0;       ///< of those below the threshold
  double unexplained_ms = 0; ///< of the others, which are not significant
};

struct WhatChanged {
  bool known = false;   ///< false: reports without step work, or no common step
  bool whole = false;   ///< without steps: the whole traces are compared
  bool assumed = false; ///< the intervals are of the assumed noise
  double threshold_percent = 0;
  Change step_time;     ///< its difference is what the lists divide; its interval stands alone
  ChangeList work;      ///< kernels, collectives, copies, idle time
  ChangeList operators; ///< the same by operator; idle time and work without one are rows
  ChangeList steps;     ///< each step of the test against the baseline's mean step
  std::size_t rows = 0; ///< that were judged together
  std::size_t base_steps = 0, test_steps = 0; ///< the samples
};

/// Welch's interval of each difference of the per-step means, all rows of all lists together at
/// 0.05 (Bonferroni). Of a step: of one more sample of at least four, and at least four times as
/// far as any of those is from their mean (heavy tails). A row is told when it leaves 0 out and the
/// difference exceeds the rule's threshold in percent of the baseline's row; what only one run has
/// needs the first alone. Without two steps on both sides nothing is told but under an assumed
/// noise.
[[nodiscard]] WhatChanged what_changed(const StepWork& base, const StepWork& test,
                                       const JudgeRule& rule);

/// Kernels of the baseline alone with their place in the test, where another name stands: the same
/// operator and shapes and as many launches a step, and of call path, geometry and place in the
/// step two the same; or, of generated kernels (whose operators have their names), shapes,
/// launches, path, geometry and place the same. Each once, the surest first.
[[nodiscard]] std::vector<std::pair<WorkKey, WorkKey>> replaced_kernels(const StepWork& base,
                                                                        const StepWork& test);

/// The sheet What_Changed: of each list what is told, then what is replaced, then all else as one
/// row; with `all` each row of its own. Without rows when nothing is known.
[[nodiscard]] Table what_changed_table(const WhatChanged& changed, const std::string& base,
                                       const std::string& test, bool all);

} // namespace rankscope
