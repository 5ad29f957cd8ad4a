// The reason why the energy of one GPU, measured during a run, is incomplete or uncertain.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope {

struct EnergyDoubt {
  enum class Kind : std::uint8_t {
    kLostGpu,       ///< the last part of the run has no readings
    kCounterReset,  ///< the energy counter decreased
    kSamplesDiffer, ///< the integral of the sampled power differs from the energy of the counter
    kAliased,       ///< there is no counter, and the power changes as fast as it is sampled
  };
  Kind kind = Kind::kLostGpu;
  int gpu = 0;
  double lost_s = 0, covered = 1;      ///< kLostGpu only; covered: fraction of the run, 0 to 1
  std::size_t resets = 0;              ///< kCounterReset only
  double counter_j = 0, sampled_j = 0; ///< kSamplesDiffer only
  double lowest_j = 0, highest_j = 0;  ///< kAliased only
};

} // namespace rankscope
