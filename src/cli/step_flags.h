// Flags of the steady state of a server, shared by the commands that look for it.
#pragma once

#include "analyses/inference/step_windows.h"
#include "cli/flag_set.h"

namespace rankscope {

/// Each flag also has the name that the reference's splitter uses. `window` outlives the parsing.
void add_window_flags(FlagSet& app, WindowOptions& window);

} // namespace rankscope
