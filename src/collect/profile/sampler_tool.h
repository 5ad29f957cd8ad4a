// A tool of a profiling run for the documented samplers of power and memory; one sampler serves
// both.
#pragma once

#include "collect/profile/native_tool.h"

#include <memory>
#include <string>

namespace rankscope {

struct SamplerToolOptions {
  std::string out;         ///< the run's folder
  std::string devices;     ///< for all samplers; "" = from their variables
  std::string sample_rate; ///< "0.1", "100ms"; "" = from their variables
  bool dual_gcd = false;
  std::string sysfs_root = "/sys";
  EnvPairs environment; ///< of the command: *_VISIBLE_DEVICES
};

/// Makes one tool for all samplers of the plan; nullptr if the plan has no sampler. Errors: kUsage
/// for invalid variables.
Result<std::unique_ptr<NativeTool>> make_sampler_tool(const Plan& plan,
                                                      const SamplerToolOptions& options);

} // namespace rankscope
