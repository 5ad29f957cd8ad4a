// Profiler steps: the user annotations ProfilerStep#N, and traces reduced to some of them.
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

/// Returns N of "ProfilerStep#N"; nullopt for any other name.
[[nodiscard]] std::optional<std::int64_t> profiler_step_number(std::string_view name);

/// Returns the steps by start. Empty when the trace has no ProfilerStep#N annotation.
[[nodiscard]] std::vector<ProfilerStep> profiler_steps(const Trace& trace);

/// Returns the number of the step in which a CPU event starts; -1 = outside all steps. `steps` are
/// sorted by start.
[[nodiscard]] std::int64_t step_at(const std::vector<ProfilerStep>& steps, std::int64_t ts_ns);

/// Parses "N" or "A:B" as a closed range. Errors: kUsage.
Result<std::pair<std::int64_t, std::int64_t>> parse_steps(const std::string& text,
                                                          std::string_view option = "--step");
/// Returns "step 12" or "steps 12 to 15".
[[nodiscard]] std::string steps_text(const std::pair<std::int64_t, std::int64_t>& steps);

/// Returns a copy whose events are these rows of the trace, in ascending order. Texts keep their
/// ids, and events keep their uids. All flows and counters are copied.
[[nodiscard]] Trace select_events(const Trace& trace, const std::vector<EventId>& rows);

/// Returns the trace of steps [first, last]: CPU events that start within one of these steps and
/// the GPU work that they launched, however late it runs. GPU work without a launch is selected by
/// its own start. Errors: kUsage when the trace has no such step (the message lists its steps).
Result<Trace> restrict_to_steps(const Trace& trace, const CallTree& tree, std::int64_t first,
                                std::int64_t last);
/// Returns a copy of the trace, linked by other rules.
[[nodiscard]] LoadedTrace linked_again(const LoadedTrace& whole, TreeRules rules);
/// Returns the trace of these steps, linked again by the rules of `whole`, with or without Python
/// frames.
Result<LoadedTrace> part_of_steps(const LoadedTrace& whole, std::int64_t first, std::int64_t last,
                                  bool include_python);

/// An interval of CPU time in a process.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t pid = 0;
};
/// Returns the trace of these windows, linked again: CPU events of the process that start in one of
/// the windows, and the GPU work that they launched, however late it runs.
[[nodiscard]] LoadedTrace part_of_windows(const LoadedTrace& whole, std::vector<TimeWindow> windows,
                                          bool include_python);

} // namespace rankscope
