// The switches of `rankscope synth` in the form WHAT:FACTOR.
#pragma once

#include "base/result.h"
#include "cli/flag_set.h"
#include "synth/synth.h"

#include <string>
#include <vector>

namespace rankscope {

struct SynthSwitches {
  std::vector<std::string> only_ranks; ///< "0-63", "7"
  std::string straggler;               ///< a rank or "none"; "" = chosen from the seed
  std::string throttle;                ///< "3:1.1", "24-31:1.1"
  std::vector<std::string> slow_configs, slow_links;
  std::string step_noise;            ///< KIND or KIND:SD
  std::vector<std::string> injected; ///< CAUSE:KEY=VALUE,...
};

/// Declares the flags; both arguments must outlive parsing.
void add_synth_switches(FlagSet& app, SynthSwitches& switches, synth::Options& options);

/// Parses the texts into options. Errors: kUsage.
Result<void> read_synth_switches(const SynthSwitches& switches, synth::Options& options);

} // namespace rankscope
