// The HTML page of analysed sweeps, side by side.
#pragma once

#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct AnalysedSweep {
  std::string folder; ///< with summary_csv, or a sweep whose tracelens_analysis has it
  std::string label;
};

/// Writes one self-contained page: a summary in words, timelines, the five variance plots on shared
/// axes, GEMMs and collectives with differences to the first sweep. What a sweep lacks is said on
/// the page. Errors: kUnreadable when a sweep has no configurations table, kOutput.
Result<void> write_sweep_page(Session& ctx, const std::vector<AnalysedSweep>& sweeps,
                              const std::string& path);

} // namespace rankscope
