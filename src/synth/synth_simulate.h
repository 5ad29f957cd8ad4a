// Simulates the times of one configuration: every rank's CPU actions and kernels. Collectives
// couple the ranks and slow down the GEMMs that they overlap.
#pragma once

#include "base/interval_set.h"
#include "synth/synth_program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::synth {

struct Config {
  std::int64_t threads = 256;
  std::int64_t channels = 28;
};

/// True times in ns on a common clock. The index is [step * count + i].
struct RankTimes {
  std::vector<std::int64_t> action_ns;
  std::vector<std::int64_t> kernel_start_ns;
  std::vector<std::int64_t> kernel_end_ns;
};

struct Run {
  Config config;
  std::vector<RankTimes> ranks;
  std::vector<double> transfer_ns; ///< per step and collective of rank 0's group: end - last start
  std::int64_t straggler = -1;
  std::vector<std::int64_t> clock_offset_ns; ///< per rank; added to every time in its file
  std::vector<std::int64_t> base_time_ns;    ///< baseTimeNanoseconds per rank
};

/// The common origin of all times, relative to the default time base.
inline constexpr std::int64_t kOriginNs = 3743411223000000;
inline constexpr std::int64_t kBaseTimeNs = 1767189312000000000;

/// Returns the model's bus bandwidth within a node for this configuration, in bytes/ns (= GB/s).
[[nodiscard]] double model_bus_bandwidth(const Config& config, bool nvidia);
/// Returns the slowdown of a GEMM while a collective runs: 0.2 = 20 %.
[[nodiscard]] double model_slowdown(const Config& config, bool nvidia);

/// Returns the label that a configuration has in ground_truth.json and in the analyses.
[[nodiscard]] std::string label_of(const Options& options, const Config& config);
/// The bandwidth, the GEMM slowdown and the factor on all GPU work, after the options are applied.
struct Speed {
  double bus_bandwidth = 0;
  double gemm_slowdown = 0;
  double gpu_factor = 1;
};
[[nodiscard]] Speed speed_of(const Options& options, const Config& config);

/// Returns the times of a run. `data`: the program of Injected::data_rank, which differs only in
/// shapes and durations; nullptr: the rank has the same program as all others.
[[nodiscard]] Run simulate(const Options& options, const Program& program, const Groups& groups,
                           const Config& config, const Program* data = nullptr);

} // namespace rankscope::synth
