// The HTML page of analysed sweeps, side by side, made from their facts.
#pragma once

#include "analyses/sweep/sweep.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepSide {
  std::string label;
  std::string folder; ///< shown as it is
  const SweepFacts* facts = nullptr;
};

/// Writes one self-contained page: a summary in words, timelines, the five variance plots on shared
/// axes, GEMMs and collectives with differences to the first sweep. What a sweep lacks is said on
/// the page. Errors: kUnreadable when a sweep has no rank that was analysed, kOutput.
Result<void> write_sweep_page(const std::vector<SweepSide>& sweeps, const std::string& path);

} // namespace rankscope
