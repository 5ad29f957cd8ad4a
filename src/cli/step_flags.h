// Flags of the steady state of a server, shared by the commands that look for it.
#pragma once

#include "analyses/inference/step_windows.h"
#include "cli/flag_set.h"

namespace rankscope {

/// Names of the reference's splitter beside our own. `window` outlives the parsing.
void add_window_flags(FlagSet& app, WindowOptions& window);

} // namespace rankscope
