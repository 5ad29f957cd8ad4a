// The energy of a sweep's runs, per run and per profiler step.
#pragma once

#include "collect/samplers/sampler.h"
#include "collect/sweep_summary.h"

#include <optional>
#include <string>

namespace rankscope {

/// Returns options for sampling all runs of a sweep; `notes` gets what cannot be measured. If no
/// GPU can be read, only the host is sampled. Errors: kMissingTool if the host has no energy
/// counters either, kUsage (`devices` names no GPU).
Result<SamplerOptions> sampling_of_runs(SamplerOptions asked, std::vector<std::string>& notes);

/// Fills joules, joules_per_step and host_joules of a row. `joules` is read from the run's outcome,
/// else from the manifests of `rankscope profile` in the run's folder.
void add_run_energy(SummaryRow& row);

/// Returns the energy of all GPUs in FOLDER/gpu_samples.csv, as a mean over profiler steps. The
/// steps are from the first rank with a trace in the folder. Returns nullopt if samples, trace or a
/// common clock are missing. Also returns nullopt if no step is covered by the samples of all GPUs,
/// or if the samples are aliased.
[[nodiscard]] std::optional<double> joules_per_step(const std::string& folder);

} // namespace rankscope
