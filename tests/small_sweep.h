// A small generated sweep that is quick to generate and to read.
#pragma once

#include "synth/synth.h"

#include <fmt/format.h>
#include <string>

namespace rankscope::test {

/// One configuration (256 threads, 28 channels) of two ranks, one layer, two steps.
inline synth::Options small_sweep() {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 2;
  o.layers = 1;
  o.steps = 2;
  return o;
}

/// The folder of a configuration of such a sweep.
inline std::string config_folder(const std::string& sweep, int channels = 28) {
  return fmt::format("{}/256thread/nccl_{}channels", sweep, channels);
}

} // namespace rankscope::test
