// Steps of a server trace without annotations, found from repeated CPU calls.
#pragma once

#include "analyses/timeline/inference_steps.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// A block of names that repeats: names[start, start + period) occurs `times` times in a row.
struct Repeat {
  std::size_t start = 0, period = 0, times = 0;
  bool operator==(const Repeat&) const = default;
};

/// Returns the first block that repeats back to back three times or more and covers more than half
/// of the names from its start on. Blocks are tried in the order of their start, then of their
/// period. `work` is the budget in comparisons. The search subtracts its cost from the budget and
/// finds nothing when the budget is used up. O(n) for each start. Example: x a b a b a b gives
/// start 1, period 2, times 3.
[[nodiscard]] std::optional<Repeat> find_repeat(std::span<const StrId> names, std::int64_t& work);

/// Searches breadth first, from the outermost calls of every thread with GPU work, for the first
/// list of siblings that repeats (find_repeat()). Each repetition is a step, even after a gap.
/// Steps are ordered by start and count as one decode request in a batch of one. `compat`: a step
/// extends from the k-th call of the block's first name to the k-th call of its last name. Empty if
/// nothing repeats.
[[nodiscard]] std::vector<AnnotatedStep> repeated_steps(const LoadedTrace& trace, bool compat);

/// Returns annotated_steps(), or repeated_steps() if there are no annotated steps.
[[nodiscard]] std::vector<AnnotatedStep> steps_to_choose(const LoadedTrace& trace, bool compat);

} // namespace rankscope
