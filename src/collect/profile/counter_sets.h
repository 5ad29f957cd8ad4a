// Hardware counters for rocprofv3 by what is asked and by the GPU's architecture, in groups that
// its blocks can count at once: each further group is a further run of the whole command.
#pragma once

#include "collect/profile/tool_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Architectures of the AMD GPUs here, as "gfx942", from the kernel's topology below `sysfs_root`;
/// none without them.
[[nodiscard]] std::vector<std::string> gpu_architectures(const std::string& sysfs_root);

/// The groups of a set (compute, memory, mix, all) on an architecture; "" or one that is not known
/// gets counters that every architecture has. Empty for an unknown set.
[[nodiscard]] std::vector<std::vector<std::string_view>> counter_groups(std::string_view set,
                                                                        std::string_view gfx);

/// In commands of the tools `{counters:SET}` becomes "--pmc A B ..." where one group is enough,
/// else
/// "-i {out}/counters_SET.txt", a file with a line "pmc: A B ..." a group among the tool's files;
/// `passes` is the number of groups. Errors: kUsage for an unknown set.
Result<void> place_counters(std::vector<ToolEntry>& tools, const std::string& gfx);

} // namespace rankscope
