// The energy of a sweep's runs: per run and per profiler step.
#pragma once

#include "collect/samplers/sampler.h"
#include "collect/sweep_summary.h"

#include <optional>
#include <string>

namespace rankscope {

/// Options for sampling all runs of a sweep; `notes` says what cannot be measured. Without a GPU
/// that can be read the host alone is sampled. Errors: kMissingTool when that has no energy either,
/// kUsage (`devices` names no GPU).
Result<SamplerOptions> sampling_of_runs(SamplerOptions asked, std::vector<std::string>& notes);

/// Fills joules, joules_per_step and host_joules of a row: by its outcome, else by the manifests of
/// `rankscope profile` in the run's folder.
void add_run_energy(SummaryRow& row);

/// Mean over the profiler steps of the energy of all GPUs in FOLDER/gpu_samples.csv. The steps are
/// those of the first rank with a trace in the folder. None where samples, trace or a common clock
/// are not there, where no step is covered by the samples of all GPUs, or where these are aliased.
[[nodiscard]] std::optional<double> joules_per_step(const std::string& folder);

} // namespace rankscope
