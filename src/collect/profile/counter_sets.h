// Hardware counters for rocprofv3 by requested set and GPU architecture, in groups that the GPU's
// blocks can count at once. Each further group needs a further run of the complete command.
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

/// Replaces `{counters:SET}` in commands of the tools by "--pmc A B ..." if one group is enough,
/// else by "-i {out}/counters_SET.txt": a file of the tool with one line "pmc: A B ..." per group.
/// `passes` is the number of groups. Errors: kUsage for an unknown set.
Result<void> place_counters(std::vector<ToolEntry>& tools, const std::string& gfx);

} // namespace rankscope
