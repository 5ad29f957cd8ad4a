// The documented samplers of power and memory as a tool of a profiling run: one sampler for both.
#pragma once

#include "collect/profile/native_tool.h"

#include <memory>
#include <string>

namespace rankscope {

struct SamplerToolOptions {
  std::string out;         ///< the run's folder
  std::string devices;     ///< for all samplers; "" = as their variables say
  std::string sample_rate; ///< "0.1", "100ms"; "" = as their variables say
  bool dual_gcd = false;
  std::string sysfs_root = "/sys";
  EnvPairs environment; ///< of the command: *_VISIBLE_DEVICES
};

/// Makes one tool for all samplers of the plan; nullptr without any. Errors: kUsage for invalid
/// variables.
Result<std::unique_ptr<NativeTool>> make_sampler_tool(const Plan& plan,
                                                      const SamplerToolOptions& options);

} // namespace rankscope
