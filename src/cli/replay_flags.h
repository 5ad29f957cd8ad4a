// The flags that say how recorded operators are run again: of `rankscope replay`, and of the node
// replay of a batch.
#pragma once

#include "cli/flag_set.h"
#include "collect/replay/replay_run.h"

#include <string>

namespace rankscope {

struct ReplayFlags {
  std::string runner = "auto";
  double timeout_s = 300;
  ReplayRunOptions run; ///< paths and repeats
};

/// Declares them in a separate group; `flags` must outlive parsing.
void add_replay_flags(FlagSet& app, ReplayFlags& flags);

/// What the flags ask for; an interrupt cancels it.
[[nodiscard]] ReplayRunOptions replay_options(const ReplayFlags& flags);

} // namespace rankscope
