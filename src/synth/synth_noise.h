// Noise per step: varies the compute time between steps as in real jobs.
#pragma once

#include "synth/synth_simulate.h"

#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::synth {

/// Parses the value of --step-noise: "iid", "common", ... Returns empty for other texts.
[[nodiscard]] std::optional<StepNoise> step_noise_kind(std::string_view text);
[[nodiscard]] std::string_view step_noise_name(StepNoise kind);

/// Returns the factors on the compute time of each rank in each step as [step][rank]; 1 if there is
/// no noise. They depend only on the options' seed and the configuration, not on the other random
/// numbers.
[[nodiscard]] std::vector<std::vector<double>> step_factors(const Options& options,
                                                            const Config& config);

} // namespace rankscope::synth
