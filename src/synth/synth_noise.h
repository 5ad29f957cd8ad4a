// Noise per step: makes the compute of a step longer or shorter than that of other steps, in the
// ways that real jobs show.
#pragma once

#include "synth/synth_simulate.h"

#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::synth {

/// Parses "iid", "common", ... as --step-noise spells it. Empty for other text.
[[nodiscard]] std::optional<StepNoise> step_noise_kind(std::string_view text);
[[nodiscard]] std::string_view step_noise_name(StepNoise kind);

/// Returns the factor on the compute of each rank in each step, [step][rank]; 1 without noise. It
/// depends on the options' seed and the configuration, not on the other random numbers.
[[nodiscard]] std::vector<std::vector<double>> step_factors(const Options& options,
                                                            const Config& config);

} // namespace rankscope::synth
