// GPU energy per kind of work: divides the power samples of a GPU among the kinds of work that ran.
#pragma once

#include "app/step_energy.h"
#include "core/loaded_trace.h"
#include "core/schema.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

enum class WorkKind : std::uint8_t { kGemm, kCompute, kCommunication, kCopy, kFill, kIdle, kAll };
[[nodiscard]] std::string_view work_kind_name(WorkKind kind);

struct KernelEnergy {
  std::int64_t device = 0; ///< device number in the trace
  std::optional<int> gpu;  ///< the sampler's number for the GPU; not set if it was not sampled
  WorkKind kind = WorkKind::kAll;
  double busy_ms = 0;           ///< time in which work of the kind ran; for idle, time without work
  std::optional<double> joules; ///< not set if no sample covers the work or the samples are aliased
  std::optional<double> joules_low, joules_high; ///< lower and upper sum over the samples
  std::optional<double> percent; ///< percentage of the joules in the row for all work
  std::optional<double> mean_w;  ///< joules / the time that they cover
  double covered_percent = 0;    ///< percentage of busy_ms that is between samples
};

/// Returns a row per device and kind of work, then a row for all work, sorted by device. Divides
/// the power at each moment from the first to the last event of a device equally among the kinds
/// that run then. If no work runs, the energy counts as idle, so that the kinds sum up to all.
/// Samples every 10 ms resolve no single kernel: joules are reliable for a kind that runs for many
/// samples. Returns no rows if the trace's clock is not known. O(events log events).
[[nodiscard]] std::vector<KernelEnergy> kernel_energy(const LoadedTrace& loaded,
                                                      const SampledPower& power);

[[nodiscard]] Schema<KernelEnergy> kernel_energy_schema();

} // namespace rankscope
