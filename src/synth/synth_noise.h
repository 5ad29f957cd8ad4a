// Noise of whole steps: what makes the compute of a step longer or shorter than that of another, by
// the kinds that real jobs show.
#pragma once

#include "synth/synth_simulate.h"

#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::synth {

/// "iid", "common", ...: as --step-noise spells it. Empty for another text.
[[nodiscard]] std::optional<StepNoise> step_noise_kind(std::string_view text);
[[nodiscard]] std::string_view step_noise_name(StepNoise kind);

/// The factor on the compute of each rank in each step, [step][rank]; 1 without noise. A function
/// of the options' seed and of the configuration; uses none of the other random numbers.
[[nodiscard]] std::vector<std::vector<double>> step_factors(const Options& options,
                                                            const Config& config);

} // namespace rankscope::synth
