// --inject and --step-noise of `rankscope synth`: causes that are added to a run.
#pragma once

#include "base/result.h"
#include "synth/synth.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the causes of --inject, as its help names them.
[[nodiscard]] std::string injected_causes();

/// Parses "CAUSE:KEY=VALUE,..." for each cause into the options. Errors: kUsage.
Result<void> read_injected(const std::vector<std::string>& causes, synth::Options& options);

/// Parses "KIND" or "KIND:SD" (a fraction of a step). Errors: kUsage.
Result<void> read_step_noise(const std::string& text, synth::Options& options);

} // namespace rankscope
