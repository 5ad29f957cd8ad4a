// Memory in use on each GPU, if the trace has its allocations: the facts behind device_memory.
#pragma once

#include "analyses/analysis.h"

#include <vector>

namespace rankscope {

/// One kind of memory of one GPU. Times are relative to the first event or sample of the trace.
struct DeviceMemoryRow {
  std::int64_t device = 0;
  bool scratch = false;     ///< reserved by the runtime for registers that kernels spill
  std::int64_t changes = 0; ///< allocations and releases
  double peak_bytes = 0;
  std::int64_t peak_at_ns = 0; ///< the first time at which the peak was reached
  double mean_bytes = 0;       ///< mean over time, from the first change to the trace's last event
  double end_bytes = 0;
};

/// Returns rows by device, program allocations before scratch memory; empty without memory samples.
[[nodiscard]] std::vector<DeviceMemoryRow> device_memory_of(const Trace& trace);

[[nodiscard]] Schema<DeviceMemoryRow> device_memory_schema();

} // namespace rankscope
