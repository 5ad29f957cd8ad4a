// Energy of each profiler step of a run: its samples of power joined with the steps of its traces
// by the clock.
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
/// CLOCK_BOOTTIME, or one that no other file shares.
enum class StepClock : std::uint8_t { kUnknown, kUnix, kMonotonic, kBoottime };

struct TracedSteps {
  std::string trace; ///< file
  std::optional<std::int64_t> rank;
  std::vector<int> devices; ///< with GPU work in the trace, ascending
  StepClock clock = StepClock::kUnknown;
  std::vector<ProfilerStep> steps; ///< on that clock, by start
};

[[nodiscard]] StepClock step_clock(const Trace& trace);

/// Scans the events once. A trace without steps or GPU work gives no steps or no devices.
[[nodiscard]] TracedSteps traced_steps(const LoadedTrace& loaded);

/// Converts a time on `clock` to Unix time by the two moments that were read on all clocks: linear
/// between them, so that corrections of the host's time in between count in part.
[[nodiscard]] std::int64_t unix_time(std::int64_t t_ns, StepClock clock, const ClockAnchor& begin,
                                     const ClockAnchor& end);

struct StepEnergy {
  std::string trace;
  std::optional<std::int64_t> rank;
  std::optional<int> gpu; ///< as the sampler numbers it; none: its device is not among those
  std::int64_t step = 0;
  std::int64_t start_unix_ns = 0;
  double duration_ms = 0;
  std::optional<double> joules; ///< none where the samples do not cover the step or are aliased
  std::optional<double> mean_w; ///< joules / duration
  std::int64_t samples = 0;     ///< taken within the step
  std::optional<double> joules_low, joules_high; ///< lower and upper sum; by a counter: joules
  const char* source = "";                       ///< counter, samples, aliased; "" = not covered
};

/// What was sampled in a run.
struct SampledPower {
  std::map<int, std::vector<PowerSample>> gpus; ///< by the sampler's number, ascending in time
  std::int64_t longest_gap_ns = 0;              ///< between samples that belong together
  ClockAnchor begin, end;                       ///< of the run
  /// Device of a trace to the sampler's number; one that is missing is itself.
  std::map<int, int> gpu_of_device;

  /// The sampler's number of a device of the trace; none where it was not sampled.
  [[nodiscard]] std::optional<int> gpu_of(int device) const;
};

/// One row per device with GPU work and step, in this order. Empty where the trace's clock is not
/// known.
[[nodiscard]] std::vector<StepEnergy> step_energy(const TracedSteps& traced,
                                                  const SampledPower& power);

/// By which number the sampler knows the devices of a process that sees `visible` (the value of
/// *_VISIBLE_DEVICES, "" = all): indices, or beginnings of the uuids in `uuids` (by number).
[[nodiscard]] std::map<int, int> visible_gpus(const std::string& visible,
                                              const std::map<int, std::string>& uuids);

[[nodiscard]] Schema<StepEnergy> step_energy_schema();

} // namespace rankscope
