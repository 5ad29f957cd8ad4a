// Writes one rank of a simulated run as a Kineto trace, with Kineto's field names in Kineto's
// order.
#pragma once

#include "synth/synth_simulate.h"

#include <map>
#include <string>

namespace rankscope::synth {

/// The steps [first, last) of the run that this rank's profiler recorded.
struct Window {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
[[nodiscard]] Window window_of(const Options& options, std::int64_t rank);
/// Returns N in ProfilerStep#N for the run's first step.
[[nodiscard]] std::int64_t first_step_number(const Options& options);

/// Converts a true time to the time in this rank's file, in ns relative to the file's
/// baseTimeNanoseconds.
[[nodiscard]] std::int64_t file_ns(const Run& run, std::int64_t rank, std::int64_t true_ns);

struct EmitResult {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::map<std::string, std::uint64_t> by_category; ///< number of events by "ph cat"; metadata: "M"
};

Result<EmitResult> emit_rank(const Options& options, const Program& program, const Groups& groups,
                             const Run& run, std::int64_t rank, const std::string& path);

} // namespace rankscope::synth
