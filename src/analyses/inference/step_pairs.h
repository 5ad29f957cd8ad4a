// Steps of two traces of a server that do like work: what may be compared with what.
#pragma once

#include "analyses/inference/step_windows.h"
#include "core/schema.h"

#include <vector>

namespace rankscope {

/// As many steps of one phase in a row in both traces.
struct PairedSteps {
  StepPhase phase = StepPhase::kIdle;
  StepRange first, second; ///< places in the two lists, of equal size
  /// Means over the pairs. Decode: of |difference| of g_sq plus that of g_sk, and 0. Others: of the
  /// requests (prefill plus decode), and of c_sq plus g_sq.
  double distance = 0, then = 0;
};

/// Of each phase that both have, prefill, mixed, decode: the two blocks with the smallest mean
/// distance, of those the longest, of those the first. A block that decodes has two steps at least.
/// Where more than 10 million pairs of short blocks have the smallest distance, and it is not 0,
/// the longest is that of the first ones. About O(n log m). Source: the reference's tool that pairs
/// steps of two traces. Example: decode steps with g_sk 10 20 30 40 and 21 31 39: [1, 3) and [0, 2)
/// differ by 1 each, and so do [1, 4) and [0, 3), which are longer.
[[nodiscard]] std::vector<PairedSteps> pair_steps(const std::vector<AnnotatedStep>& first,
                                                  const std::vector<AnnotatedStep>& second);

/// paired_steps.csv.
[[nodiscard]] Schema<PairedSteps> paired_steps_schema();

} // namespace rankscope
