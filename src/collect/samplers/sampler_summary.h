// Summary of a run's samples: power, energy, memory, and how punctual the schedule was.
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

/// Idle samples before and after the run are separate, so that they never dilute its averages.
enum class Phase : std::uint8_t { kPre, kRun, kPost };
[[nodiscard]] const char* phase_name(Phase phase); ///< pre, run, post

/// One GPU during the phase `run`.
struct GpuSummary {
  GpuIdentity gpu;
  std::size_t samples = 0;                      ///< readings taken
  std::size_t missing_power = 0;                ///< of those, without a power
  std::optional<double> mean_w;                 ///< joules / covered seconds; empty if aliased
  std::optional<double> median_w, p95_w, max_w; ///< of samples, to 0.1 W
  /// From the energy counter, and from the samples' integral for the time without a counter. Empty
  /// without a counter if the samples are aliased.
  std::optional<double> joules;
  std::optional<double> joules_low, joules_high; ///< with the lower and upper sum of uncounted time
  std::optional<double> sampled_joules;          ///< trapezoid over the samples
  std::optional<double> counter_joules;          ///< counted by the energy counter
  std::size_t counter_resets = 0;                ///< times that the counter decreased
  /// (samples' integral - counter) / counter, over what was counted.
  std::optional<double> sampling_error;
  double covered = 0; ///< part of the run that the joules stand for, 0 to 1
  double lost_s = 0;  ///< at the end of the run, without any reading: the GPU went away
  double gap_s = 0;   ///< time between samples further apart than 2.5 periods, integrated as well
  std::optional<std::int64_t> peak_vram_b, vram_total_b;
  std::optional<double> mean_busy_pct, peak_temp_c;

  /// "counter", "samples", "aliased" (only the range is known), "" where there is no energy.
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
  std::optional<double> cpu_joules, dram_joules; ///< by RAPL; none where it cannot be read
};

struct SamplerSummary {
  std::string backend;
  double period_s = 0;
  double run_s = 0;                         ///< length of the phase `run`
  std::size_t ticks = 0;                    ///< of the schedule that were served, all phases
  std::size_t missed = 0;                   ///< that went by while the one before was read
  double mean_read_us = 0, max_read_us = 0; ///< time of reading all GPUs once
  double cpu_s = 0;                         ///< processor time of the sampling thread
  double worst_late_us = 0;                 ///< latest begin of a tick after its time
  std::vector<GpuSummary> gpus;
  std::vector<GpuProcessSummary> processes; ///< by GPU and pid
  HostSummary host;
  std::optional<Error> write_error; ///< why a table lacks rows; the sums cover them all the same
  std::vector<std::string> notes;   ///< of the back end and of the choice of devices
  std::vector<std::string> files;   ///< that were written
};

/// Collects samples of one GPU into a GpuSummary in bounded memory (power to 0.1 W).
class GpuAccumulator {
public:
  GpuAccumulator(GpuIdentity gpu, std::int64_t period_ns) : period_ns_(period_ns) {
    out_.gpu = std::move(gpu);
  }
  /// `t_ns` on any monotonic clock, growing. `was` is the phase up to this sample, `is` from it on:
  /// a sample at the boundary ends the one and begins the other.
  void add(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading);
  [[nodiscard]] GpuSummary summary() const;

private:
  void add_power(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading);
  void add_counter(std::int64_t t_ns, Phase was, const GpuReading& reading);

  GpuSummary out_;
  std::int64_t period_ns_;
  std::vector<std::uint32_t> deciwatts_; ///< samples at each 0.1 W
  std::size_t power_samples_ = 0;
  /// Integral over samples and the time of it.
  struct Sampled {
    double joules = 0, low = 0, high = 0, seconds = 0;
    void add(const Sampled& more);
  };
  Sampled sampled_;   ///< all
  Sampled pending_;   ///< since the counter last changed
  Sampled uncounted_; ///< not covered by the counter
  double busy_sum_ = 0;
  std::size_t busy_samples_ = 0;
  std::optional<std::int64_t> last_t_ns_;
  double last_w_ = 0;
  double min_w_ = std::numeric_limits<double>::infinity();
  std::optional<double> counter_;      ///< its present value
  std::int64_t counter_t_ns_ = 0;      ///< when it was read first
  bool counter_begins_ = false;        ///< it is the first one of the run or behind a reset
  bool change_known_ = false;          ///< the counter took it at that time, not before
  double counted_ = 0, counted_s_ = 0; ///< J, and the time of them
  double counted_sampled_ = 0;         ///< J of the samples in that time
  std::optional<std::int64_t> begin_t_ns_, end_t_ns_; ///< of the run
  std::optional<std::int64_t> reading_t_ns_;          ///< last one that was not empty
};

/// By GPU: readings that stop, resets of the counter, samples and counter that differ by more than
/// 3 %, samples without a counter that are aliased.
[[nodiscard]] std::vector<EnergyDoubt> energy_doubts(const SamplerSummary& summary);

} // namespace rankscope
