// Hardware counters by kernel: the facts behind kernel_counters.
#pragma once

#include "analyses/analysis.h"

#include <string_view>
#include <vector>

namespace rankscope {

/// Statistics of one counter over the launches of a kernel with a value of this counter. Views live
/// as long as the trace.
struct KernelCounterRow {
  std::string_view kernel;
  std::string_view counter;
  std::int64_t launches = 0;
  double sum = 0, min = 0, max = 0;
  std::int64_t time_ns = 0; ///< total time of those launches
};

/// Returns rows by total kernel time (longest first), then by kernel name and counter name. The
/// value of a launch is the sum over the counter's instances, as the tool recorded them.
[[nodiscard]] std::vector<KernelCounterRow> kernel_counters_of(const Trace& trace);

/// Counts of the vector, scalar and memory instructions, waits and branches that a kernel issued.
/// Their counters have names that contain SQ_INSTS_VALU, _SALU, _VMEM, _SMEM, SQ_WAIT_INST and
/// SQ_INSTS_BRANCH.
struct InstructionRow {
  std::string_view kernel;
  double valu = 0, salu = 0, vmem = 0, smem = 0, wait = 0, branch = 0;
};
/// Returns rows in the order of kernel_counters_of(); kernels without such a counter have no row.
[[nodiscard]] std::vector<InstructionRow>
instruction_mix_of(const std::vector<KernelCounterRow>& counters);

[[nodiscard]] Schema<KernelCounterRow> kernel_counters_schema();
[[nodiscard]] Schema<InstructionRow> instruction_mix_schema();

} // namespace rankscope
