// The flags of `rankscope profile` and its actions other than running a command.
#pragma once

#include "app/profile_run.h"
#include "cli/command.h"
#include "cli/flag_set.h"

#include <string>
#include <vector>

namespace rankscope {

struct ProfileFlags {
  std::string action;
  std::vector<std::string> inputs; ///< inputs of an action
  std::string table = "library_trace.csv";
  ProfileRequest request;
  bool dry_run = false, explain = false, local = false;
};

/// Declares the flags; `flags` must outlive parsing.
void add_profile_flags(FlagSet& app, ProfileFlags& flags);

/// Runs flags.action, which is not empty: tools, doctor, merge, trace-parse or replicate.
Result<void> run_profile_action(Context& ctx, const ProfileFlags& flags);

} // namespace rankscope
