// The flags of `rankscope sweep` and their request.
#pragma once

#include "app/sweep.h"
#include "cli/flag_set.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepFlags {
  SweepRequest request;
  std::string channels, threads, pairs, matrix, config;
  std::vector<std::string> set, unset;
  bool exact_channels = false;
  bool warp_speed = false;
  bool dry_run = false;
  bool no_summary = false;
  bool no_library_log = false;
  bool no_echo = false;
  bool higher_is_better = false, lower_is_better = false;
  std::string default_label;
  bool sample = false;
  std::string sample_period = "0.1";
  SamplerOptions sampling; ///< used with --sample
  double budget_min = 0;
  double timeout_s = 0, grace_s = 10, pause_s = 0;
};

/// Declares the flags; `flags` must outlive parsing.
void add_sweep_flags(FlagSet& app, SweepFlags& flags);

/// Fills flags.request from the given flags and from `program`, the words after `--`. The caller
/// sets how runs are shown and ended. Errors: kUsage.
Result<void> read_sweep_flags(const std::vector<std::string>& program, SweepFlags& flags);

} // namespace rankscope
