// Summary of a run's samples: power, energy, memory, and delays of the schedule.
#pragma once

#include "base/result.h"
#include "collect/samplers/gpu_backend.h"
#include "core/energy_doubt.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Phases of a run. Idle samples before and after the run are separate, so that they never dilute
/// its averages.
enum class Phase : std::uint8_t { kPre, kRun, kPost };
[[nodiscard]] const char* phase_name(Phase phase); ///< pre, run, post

/// Summary of one GPU during the phase `run`.
struct GpuSummary {
  GpuIdentity gpu;
  std::size_t samples = 0;                      ///< readings taken
  std::size_t missing_power = 0;                ///< readings without a power value
  std::optional<double> mean_w;                 ///< joules / covered seconds; empty if aliased
  std::optional<double> median_w, p95_w, max_w; ///< of the samples, to 0.1 W
  /// Energy from the counter, and from the samples' integral for the time without a counter. Empty
  /// if the samples are aliased and there is no counter.
  std::optional<double> joules;
  /// Bounds of the energy: the counted energy, plus the 95 % interval of the samples' integral in
  /// uncounted time.
  std::optional<double> joules_low, joules_high;
  std::optional<double> sampled_joules; ///< trapezoid over the samples
  std::optional<double> counter_joules; ///< counted by the energy counter
  std::size_t counter_resets = 0;       ///< times that the counter decreased
  /// Relative error of sampling over the counted time: (samples' integral - counter) / counter.
  std::optional<double> sampling_error;
  double covered = 0; ///< part of the run that the joules cover, 0 to 1
  double lost_s = 0;  ///< time without any reading at the end of the run: the GPU went away
  double gap_s = 0;   ///< time between samples further apart than 2.5 periods, integrated as well
  std::optional<std::int64_t> peak_vram_b, vram_total_b;
  std::optional<double> mean_busy_pct, max_busy_pct, peak_temp_c;

  /// Returns "counter", "samples", "aliased" (only the range is known), or "" without energy.
  [[nodiscard]] const char* energy_source() const {
    return !joules_low ? "" : !joules ? "aliased" : counter_joules ? "counter" : "samples";
  }
};

/// A process on one GPU during the phase `run`.
struct GpuProcessSummary {
  int gpu = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> peak_vram_b;
};

struct HostSummary {
  std::size_t samples = 0;
  std::optional<double> mean_cpu_pct, max_cpu_pct; ///< of all processors together
  std::optional<std::int64_t> peak_memory_b, memory_total_b;
  std::optional<double> cpu_joules, dram_joules; ///< from RAPL; empty if it cannot be read
};

struct SamplerSummary {
  std::string backend;
  double period_s = 0;
  double run_s = 0;                         ///< length of the phase `run`
  std::size_t ticks = 0;                    ///< ticks of the schedule that were served, all phases
  std::size_t missed = 0;                   ///< ticks that passed while the previous one was read
  double mean_read_us = 0, max_read_us = 0; ///< time of reading all GPUs once
  double cpu_s = 0;                         ///< processor time of the sampling thread
  double worst_late_us = 0;                 ///< longest delay of a tick
  std::vector<GpuSummary> gpus;
  std::vector<GpuProcessSummary> processes; ///< sorted by GPU and pid
  HostSummary host;
  std::optional<Error> write_error; ///< why a table lacks rows; the sums still include them
  std::vector<std::string> notes;   ///< from the back end and the choice of devices
  std::vector<std::string> files;   ///< files that were written
};

/// Collects samples of one GPU into a GpuSummary in bounded memory (power to 0.1 W).
class GpuAccumulator {
public:
  GpuAccumulator(GpuIdentity gpu, std::int64_t period_ns) : period_ns_(period_ns) {
    out_.gpu = std::move(gpu);
  }
  /// Adds a reading. `t_ns` is on any monotonic clock and grows. `was` is the phase up to this
  /// sample, `is` the phase after it: a sample at the boundary ends one phase and begins the other.
  void add(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading);
  [[nodiscard]] GpuSummary summary() const;

private:
  void add_power(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading);
  void add_counter(std::int64_t t_ns, Phase was, const GpuReading& reading);

  GpuSummary out_;
  std::int64_t period_ns_;
  std::vector<std::uint32_t> deciwatts_; ///< number of samples at each 0.1 W
  std::size_t power_samples_ = 0;
  /// Integral over samples, and the time that they cover. The variance of the integral is a sum
  /// over the intervals between samples; it is known for the intervals of `known_s` seconds.
  struct Sampled {
    double joules = 0, low = 0, high = 0, seconds = 0;
    double variance = 0, squares = 0; ///< J^2; sum of the squared variances of the intervals
    double known_s = 0;
    void add(const Sampled& more);
  };
  /// The uncertainty of the integral over samples.
  struct Bounds {
    double low = 0, high = 0;
    std::optional<double> error; ///< standard error in J; empty if it is unknown
  };
  static Bounds bounds_of(const Sampled& sampled);
  [[nodiscard]] Sampled interval(std::int64_t t_ns, double w) const;
  Sampled sampled_;   ///< all samples
  Sampled pending_;   ///< since the counter last changed
  Sampled uncounted_; ///< not covered by the counter
  double busy_sum_ = 0;
  std::size_t busy_samples_ = 0;
  std::optional<std::int64_t> last_t_ns_, before_last_t_ns_; ///< of the run; samples with power
  double last_w_ = 0, before_last_w_ = 0;
  double min_w_ = std::numeric_limits<double>::infinity();
  std::optional<double> counter_;      ///< present value of the counter
  std::int64_t counter_t_ns_ = 0;      ///< when this value was read first
  bool counter_begins_ = false;        ///< the value is the first of the run or after a reset
  bool change_known_ = false;          ///< the counter changed at counter_t_ns_, not before
  double counted_ = 0, counted_s_ = 0; ///< joules from the counter, and the time that they cover
  double counted_sampled_ = 0;         ///< J of the samples in that time
  std::optional<std::int64_t> begin_t_ns_, end_t_ns_; ///< begin and end of the run
  std::optional<std::int64_t> reading_t_ns_; ///< time of the last reading that was not empty
};

/// Returns doubts by GPU: readings that stop, resets of the counter, samples and counter that
/// differ by more than 3 %, and aliased samples without a counter.
[[nodiscard]] std::vector<EnergyDoubt> energy_doubts(const SamplerSummary& summary);

} // namespace rankscope
