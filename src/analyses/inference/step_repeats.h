// Steps of a server whose trace has no annotations: what the CPU does again and again.
#pragma once

#include "analyses/timeline/inference_steps.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// names[start, start + period) occurs `times` times in a row.
struct Repeat {
  std::size_t start = 0, period = 0, times = 0;
  bool operator==(const Repeat&) const = default;
};

/// Returns the first block, by start, then by period, that repeats back to back three times or more
/// and covers more than half of what follows its start. `work` is the budget in comparisons; the
/// search subtracts its own cost and finds nothing once the budget is used up. O(n) for each start.
/// Example: x a b a b a b gives start 1, period 2, times 3.
[[nodiscard]] std::optional<Repeat> find_repeat(std::span<const StrId> names, std::int64_t& work);

/// Searches breadth first from the outermost calls of every thread with GPU work for the first list
/// of siblings that repeats (find_repeat()). Each repetition is a step, also after a gap; steps are
/// by start and count as one decode request in a batch of one. `compat`: a step goes from the k-th
/// call of the block's first name to the k-th of its last. Empty when nothing repeats.
[[nodiscard]] std::vector<AnnotatedStep> repeated_steps(const LoadedTrace& trace, bool compat);

/// annotated_steps(), else repeated_steps().
[[nodiscard]] std::vector<AnnotatedStep> steps_to_choose(const LoadedTrace& trace, bool compat);

} // namespace rankscope
