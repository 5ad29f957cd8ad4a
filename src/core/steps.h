// Profiler steps: the user annotations ProfilerStep#N, and traces cut down to some of them.
#pragma once

#include "base/result.h"
#include "core/loaded_trace.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

struct ProfilerStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// N of "ProfilerStep#N"; nullopt for any other name.
[[nodiscard]] std::optional<std::int64_t> profiler_step_number(std::string_view name);

/// By start. Empty when the trace has no ProfilerStep#N annotation.
[[nodiscard]] std::vector<ProfilerStep> profiler_steps(const Trace& trace);

/// Number of the step in which a CPU event starts, -1 = none. `steps` by start.
[[nodiscard]] std::int64_t step_at(const std::vector<ProfilerStep>& steps, std::int64_t ts_ns);

/// "N" or "A:B" as a closed range. Errors: kUsage.
Result<std::pair<std::int64_t, std::int64_t>> parse_steps(const std::string& text,
                                                          std::string_view option = "--step");
/// "step 12", "steps 12 to 15"
[[nodiscard]] std::string steps_text(const std::pair<std::int64_t, std::int64_t>& steps);

/// Returns a copy whose events are these rows of the trace, in ascending order. Texts keep their
/// ids, events their uids; all flows and counters are copied.
[[nodiscard]] Trace select_events(const Trace& trace, const std::vector<EventId>& rows);

/// Returns the trace of steps [first, last]: CPU events that start within one of them and the GPU
/// work they launched, however late it runs; GPU work without a launch by its own start. Errors:
/// kUsage when the trace has no such step (the message lists its steps).
Result<Trace> restrict_to_steps(const Trace& trace, const CallTree& tree, std::int64_t first,
                                std::int64_t last);
/// A copy of the trace, linked by other rules.
[[nodiscard]] LoadedTrace linked_again(const LoadedTrace& whole, TreeRules rules);
/// The trace of these steps, linked again by the rules of `whole`, with or without Python frames.
Result<LoadedTrace> part_of_steps(const LoadedTrace& whole, std::int64_t first, std::int64_t last,
                                  bool include_python);

/// A stretch of time on the CPU of a process.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t pid = 0;
};
/// The trace of these windows, linked again: CPU events of the process that start in one of them,
/// and the GPU work they launched, however late it runs.
[[nodiscard]] LoadedTrace part_of_windows(const LoadedTrace& whole, std::vector<TimeWindow> windows,
                                          bool include_python);

} // namespace rankscope
