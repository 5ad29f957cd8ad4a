// The random numbers of the generator: equal seeds give equal numbers on every machine.
#pragma once

#include <cstdint>

namespace rankscope::synth {

/// Returns a hash of `x`: the mixing function of splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Random {
public:
  explicit Random(std::uint64_t key) : state_(mix(key)) {}
  std::uint64_t next() { return mix(state_++); }
  /// Returns a uniform number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Returns an approximately normal number with mean 0 and standard deviation 1, at most 3.46 from
  /// 0 (a sum of 4 uniform numbers).
  double normal() {
    const double sum = uniform() + uniform() + uniform() + uniform();
    return (sum - 2.0) * 1.7320508075688772;
  }

private:
  std::uint64_t state_;
};

} // namespace rankscope::synth
