// Energy by what a GPU did: its samples of power divided among the kinds of work that ran.
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
  std::int64_t device = 0; ///< of the trace
  std::optional<int> gpu;  ///< as the sampler numbers it; none: it was not sampled
  WorkKind kind = WorkKind::kAll;
  double busy_ms = 0;           ///< while work of the kind ran (of idle: none)
  std::optional<double> joules; ///< none where no sample covers it or the samples are aliased
  std::optional<double> joules_low, joules_high; ///< lower and upper sum over the samples
  std::optional<double> percent;                 ///< of the row of all
  std::optional<double> mean_w;                  ///< joules / the time that they stand for
  double covered_percent = 0;                    ///< of busy_ms between samples
};

/// A row per device and kind that it had, then one of all, by device. At each moment from the first
/// to the last event of a device its power is divided in equal parts among the kinds that run then;
/// where none does, it is idle's. So the kinds sum up to all. Samples every 10 ms resolve no single
/// kernel: a kind's joules are good where it runs for many samples. Empty where the trace's clock
/// is not known. O(events log events).
[[nodiscard]] std::vector<KernelEnergy> kernel_energy(const LoadedTrace& loaded,
                                                      const SampledPower& power);

[[nodiscard]] Schema<KernelEnergy> kernel_energy_schema();

} // namespace rankscope
