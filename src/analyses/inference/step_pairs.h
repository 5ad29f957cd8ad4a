// Comparable steps: steps of two server traces that do similar work.
#pragma once

#include "analyses/inference/step_windows.h"
#include "core/schema.h"

#include <vector>

namespace rankscope {

/// Equally long blocks of consecutive steps of one phase in both traces.
struct PairedSteps {
  StepPhase phase = StepPhase::kIdle;
  StepRange first, second; ///< positions in the two lists, of equal size
  /// Mean differences over the pairs. Decode: `distance` is |difference| of g_sq plus |difference|
  /// of g_sk, and `then` is 0. Other phases: `distance` is for requests (prefill plus decode),
  /// `then` for c_sq plus g_sq.
  double distance = 0, then = 0;
};

/// Returns the two blocks with the smallest mean distance for each phase that both traces have, in
/// the order prefill, mixed, decode. If several pairs of blocks have this distance, the longest is
/// returned; if they are equally long, the first. A decode block has at least two steps. If more
/// than 10 million pairs of short blocks have the smallest distance, and that is not 0, only the
/// first ones are searched for the longest block. About O(n log m). Source: the reference's tool
/// that pairs steps of two traces. Example: decode steps with g_sk 10 20 30 40 and 21 31 39: [1, 3)
/// and [0, 2) differ by 1 each, and so do [1, 4) and [0, 3), which are longer.
[[nodiscard]] std::vector<PairedSteps> pair_steps(const std::vector<AnnotatedStep>& first,
                                                  const std::vector<AnnotatedStep>& second);

/// Returns the columns of paired_steps.csv.
[[nodiscard]] Schema<PairedSteps> paired_steps_schema();

} // namespace rankscope
