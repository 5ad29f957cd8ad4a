// Limits the recording to a part of a run (a time window, some kernels or steps), through the
// options of each tool.
#pragma once

#include "base/result.h"
#include "collect/profile/tool_table.h"

#include <string>
#include <vector>

namespace rankscope {

struct TargetedCollection {
  double delay_s = 0;    ///< from the start of the command to the start of recording
  double duration_s = 0; ///< length of the recording; 0 = to the end of the command
  std::string kernels;   ///< regular expression of kernel names; "" = all
  std::string steps;     ///< A:B, optimizer steps from 0; "" = all

  [[nodiscard]] bool any() const {
    return delay_s > 0 || duration_s > 0 || !kernels.empty() || !steps.empty();
  }
};

/// Inserts the options into the commands of tools that trace GPUs: rocprofv3, rocprof-sys-run,
/// nsys, ncu. Other tools record the complete run; `notes` names them. Call after place_counters().
/// Errors: kUsage for a tracer without the requested option, and if no tool traces GPUs.
Result<void> place_targets(const TargetedCollection& targets, std::vector<ToolEntry>& tools,
                           std::vector<std::string>& notes);

} // namespace rankscope
