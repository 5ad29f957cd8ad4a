// Flags for the replay of recorded operators, for `rankscope replay` and the node replay of a
// batch.
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

/// Declares the flags in a separate group; `flags` must outlive parsing.
void add_replay_flags(FlagSet& app, ReplayFlags& flags);

/// Returns the options that the flags request; an interrupt cancels the replay.
[[nodiscard]] ReplayRunOptions replay_options(const ReplayFlags& flags);

} // namespace rankscope
