// Energy of each profiler step of a run: joins power samples with the steps of the traces by time.
#pragma once

#include "base/result.h"
#include "collect/clock_anchor.h"
#include "core/loaded_trace.h"
#include "core/schema.h"
#include "core/steps.h"
#include "model/step_energy.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The host clock of a trace's steps: Kineto's Unix time, RPD's CLOCK_MONOTONIC, rocprofiler's
/// CLOCK_BOOTTIME, or a clock that no other file shares.
enum class StepClock : std::uint8_t { kUnknown, kUnix, kMonotonic, kBoottime };

struct TracedSteps {
  std::string trace; ///< trace file
  std::optional<std::int64_t> rank;
  std::vector<int> devices; ///< devices with GPU work in the trace, ascending
  StepClock clock = StepClock::kUnknown;
  std::vector<ProfilerStep> steps; ///< times on `clock`, sorted by start
};

[[nodiscard]] StepClock step_clock(const Trace& trace);

/// Returns the steps and devices of a trace; scans the events once. Without steps or GPU work in
/// the trace, the list of steps or devices is empty.
[[nodiscard]] TracedSteps traced_steps(const LoadedTrace& loaded);

/// Converts a time on `clock` to Unix time with two moments that were read on all clocks.
/// Interpolates linearly, so that corrections of the host's time between these moments are applied
/// in proportion.
[[nodiscard]] std::int64_t unix_time(std::int64_t t_ns, StepClock clock, const ClockAnchor& begin,
                                     const ClockAnchor& end);

struct StepEnergy {
  std::string trace;
  std::optional<std::int64_t> rank;
  std::optional<int> gpu; ///< the sampler's number for the GPU; not set if it was not sampled
  std::int64_t step = 0;
  std::int64_t start_unix_ns = 0;
  double duration_ms = 0;
  std::optional<double> joules; ///< not set if the samples do not cover the step or are aliased
  std::optional<double> mean_w; ///< joules / duration
  std::int64_t samples = 0;     ///< number of samples within the step
  /// Lower and upper sum over the samples; if the source is the counter, both equal joules.
  std::optional<double> joules_low, joules_high;
  const char* source = ""; ///< counter, samples, aliased; "" = not covered
};

/// The power samples of a run, and the data to join them with a trace.
struct SampledPower {
  std::map<int, std::vector<PowerSample>> gpus; ///< by the sampler's GPU number, ascending in time
  std::int64_t longest_gap_ns = 0;              ///< longer intervals between samples are gaps
  ClockAnchor begin, end;                       ///< clock readings at begin and end of the run
  /// Maps a device of a trace to the sampler's number; a device that is not in the map has the same
  /// number.
  std::map<int, int> gpu_of_device;

  /// Returns the sampler's number of a device of the trace; nullopt if it was not sampled.
  [[nodiscard]] std::optional<int> gpu_of(int device) const;
};

/// Returns one row per device with GPU work and per step, in this order. Returns no rows if the
/// trace's clock is not known.
[[nodiscard]] std::vector<StepEnergy> step_energy(const TracedSteps& traced,
                                                  const SampledPower& power);

/// Returns the sampler's number of each device that a process sees with `visible` (the value of
/// *_VISIBLE_DEVICES, "" = all). `visible` lists indices, or prefixes of the uuids in `uuids` (by
/// sampler's number).
[[nodiscard]] std::map<int, int> visible_gpus(const std::string& visible,
                                              const std::map<int, std::string>& uuids);

[[nodiscard]] Schema<StepEnergy> step_energy_schema();

} // namespace rankscope
