// The HTML page that compares analysed sweeps, made from their facts.
#pragma once

#include "analyses/sweep/sweep.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepSide {
  std::string label;
  std::string folder; ///< shown unchanged
  const SweepFacts* facts = nullptr;
};

/// Writes one self-contained page: a summary in words, timelines, the five variance plots on shared
/// axes, GEMMs and collectives with differences to the first sweep. The page lists the missing data
/// of each sweep. Errors: kUnreadable when no rank of a sweep was analysed, kOutput.
Result<void> write_sweep_page(const std::vector<SweepSide>& sweeps, const std::string& path);

} // namespace rankscope
