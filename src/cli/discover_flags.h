// The flags of discovery, shared by all commands that search for traces.
#pragma once

#include "cli/flag_set.h"
#include "readers/discovery.h"

#include <string>

namespace rankscope {

/// Declares --trace-name, --trace-pattern, --rank-regex, --require-all-ranks, `step_flag`, and with
/// `sweep` --config-regex and --files-as-runs. `options` must outlive parsing.
void add_discover_flags(FlagSet& app, DiscoverOptions& options, bool sweep,
                        const std::string& step_flag = "--step");

} // namespace rankscope
