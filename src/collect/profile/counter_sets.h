// Hardware counters for rocprofv3 by requested set and GPU architecture, in groups that the GPU's
// blocks can count at once. Each additional group requires another run of the complete command.
#pragma once

#include "collect/profile/tool_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Returns the architectures of this host's AMD GPUs, such as "gfx942", from the kernel's topology
/// below `sysfs_root`; empty without AMD GPUs.
[[nodiscard]] std::vector<std::string> gpu_architectures(const std::string& sysfs_root);

/// Returns the groups of a set (compute, memory, mix, all) on an architecture. An empty or unknown
/// architecture gets counters that every architecture has. Empty for an unknown set.
[[nodiscard]] std::vector<std::vector<std::string_view>> counter_groups(std::string_view set,
                                                                        std::string_view gfx);

/// Replaces `{counters:SET}` in the tools' commands by "--pmc A B ..." if one group is enough, else
/// by "-i {out}/counters_SET.txt". That file in the tool's folder has one line "pmc: A B ..." per
/// group. `passes` becomes the number of groups. Errors: kUsage for an unknown set.
Result<void> place_counters(std::vector<ToolEntry>& tools, const std::string& gfx);

} // namespace rankscope
