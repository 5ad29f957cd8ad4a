// Flags of the steady state of a server, shared by the commands that search for it.
#pragma once

#include "analyses/inference/step_windows.h"
#include "cli/flag_set.h"

namespace rankscope {

/// Adds the flags; each flag can also be given by its name in the reference's splitter. `window`
/// outlives the parsing.
void add_window_flags(FlagSet& app, WindowOptions& window);

} // namespace rankscope
