// Converts the summary of a sampler to JSON and text, for manifests, --json and people.
#pragma once

#include "collect/samplers/sampler_summary.h"
#include "core/finding.h"

#include <span>
#include <string>

namespace rankscope {

/// Returns the GPUs of a back end with their momentary power, as one object.
[[nodiscard]] std::string gpu_list_json(GpuBackend& backend);
/// Returns the summary as one object; unknown values are null. Keys end in their unit (_w, _j, _s,
/// _b, _pct, _us). `findings` come from energy_doubts().
[[nodiscard]] std::string sampler_json(const SamplerSummary& summary,
                                       std::span<const Finding> findings);
/// Returns the summary for people: a line per GPU, one for the host, one for the schedule,
/// findings, notes.
[[nodiscard]] std::string sampler_text(const SamplerSummary& summary,
                                       std::span<const Finding> findings);

} // namespace rankscope
