// Changes between two runs: the step time difference divided among kernels, collectives, copies and
// idle time, among operators, and among steps. Parts beyond the noise are listed first, largest
// first (docs/reference/compare-rules.md 4).
#pragma once

#include "analyses/compare/judgement.h"
#include "analyses/compare/step_work.h"
#include "core/table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The presence of a row in the runs. kReplaced: the baseline has another kernel at the same place.
enum class ChangeState : std::uint8_t { kBoth, kNew, kVanished, kReplaced };
/// Returns "in both", "new", "vanished" or "replaced".
[[nodiscard]] std::string_view change_state_name(ChangeState state);

/// A row of a list. Times are own times per step, milliseconds, mean over steps and ranks.
struct Change {
  /// "kernel", "collective", "copy", "idle time", "wait at collectives", "operator", "step"
  std::string what;
  std::string name, old_name; ///< old_name: the replaced kernel
  std::string op, shapes;     ///< only for kernels, collectives and copies
  ChangeState state = ChangeState::kBoth;
  double base_ms = 0, test_ms = 0;
  double difference_ms = 0; ///< test - base; for a step, divided by the number of steps
  std::optional<double> base_launches, test_launches; ///< per step, mean over ranks
  std::optional<double> low_ms, high_ms; ///< interval of difference_ms; 95 % for all rows together
  std::optional<double> share_percent;   ///< percentage of the step time difference, if that is
                                         ///< significant
  bool reported = false;                 ///< a change: beyond the noise and the threshold
  bool below_threshold = false;          ///< beyond the noise, not beyond the threshold
};

/// One way to divide the difference. The differences of the rows add up to the total difference.
struct ChangeList {
  std::vector<Change>
      rows; ///< rows with `reported` first; both parts sorted by size of the difference
  std::size_t reported = 0;  ///< number of rows with `reported`
  std::size_t below = 0;     ///< number of rows below the threshold
  double explained_ms = 0;   ///< sum of the differences of the rows with `reported`
  double below_ms = 0;       ///< sum of the differences of the rows below the threshold
  double unexplained_ms = 0; ///< sum of the differences of the other rows, which are not
                             ///< significant
};

struct WhatChanged {
  bool known = false;         ///< false: reports without step work, or no common step
  bool without_steps = false; ///< without steps: complete traces are compared
  bool assumed = false;       ///< the intervals come from the assumed noise
  double threshold_percent = 0;
  Change step_time;     ///< the lists divide this difference; the interval is for this row alone
  ChangeList work;      ///< kernels, collectives, copies, idle time
  ChangeList operators; ///< the difference by operator; idle time and work without an operator are
                        ///< rows
  ChangeList steps;     ///< each step of the test against the baseline's mean step
  std::size_t rows = 0; ///< number of rows that were judged together
  std::size_t base_steps = 0, test_steps = 0; ///< numbers of samples
};

/// Computes Welch's interval of each difference of per-step means, all rows of all lists together
/// at 0.05 (Bonferroni). A step has a prediction interval if there are at least four baseline
/// steps. The interval extends at least four times as far from the baseline's mean as any of its
/// steps (heavy tails). A row has `reported` if its interval excludes 0 and the difference exceeds
/// the rule's threshold in percent of the baseline's row. Rows of only one run need no threshold.
/// With fewer than two steps on a side, rows have `reported` only if there is an assumed noise.
[[nodiscard]] WhatChanged what_changed(const StepWork& base, const StepWork& test,
                                       const JudgeRule& rule);

/// Returns pairs of a kernel that only the baseline has and the test's kernel in its place. Both
/// have the same operator, shapes and launches per step, and at least two of call path, geometry
/// and place in the step are the same. Generated kernels, with operators of the same name, must
/// have the same shapes, launches, path, geometry and place. Each kernel occurs once; the least
/// doubtful pair is first.
[[nodiscard]] std::vector<std::pair<WorkKey, WorkKey>> replaced_kernels(const StepWork& base,
                                                                        const StepWork& test);

/// Returns the sheet What_Changed: for each list the `reported` rows, then replaced kernels, then
/// one row for all other rows. With `all`, the sheet has every row. No rows if `changed.known` is
/// false.
[[nodiscard]] Table what_changed_table(const WhatChanged& changed, const std::string& base,
                                       const std::string& test, bool all);

} // namespace rankscope
