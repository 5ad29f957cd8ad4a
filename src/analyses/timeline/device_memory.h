// Memory in use on each GPU, where the trace has its allocations: the facts behind device_memory.
#pragma once

#include "analyses/analysis.h"

#include <vector>

namespace rankscope {

/// One GPU and one kind of its memory. Times from the first event or sample of the trace.
struct DeviceMemoryRow {
  std::int64_t device = 0;
  bool scratch = false;     ///< reserved by the runtime for registers that kernels spill
  std::int64_t changes = 0; ///< allocations and releases
  double peak_bytes = 0;
  std::int64_t peak_at_ns = 0; ///< the first time that it was reached
  double mean_bytes = 0;       ///< over time, from the first change to the trace's last event
  double end_bytes = 0;
};

/// By device, program allocations before scratch memory; empty without memory samples.
[[nodiscard]] std::vector<DeviceMemoryRow> device_memory_of(const Trace& trace);

[[nodiscard]] Schema<DeviceMemoryRow> device_memory_schema();

} // namespace rankscope
