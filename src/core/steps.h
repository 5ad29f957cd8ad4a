// Profiler steps: the user annotations ProfilerStep#N, and copies of a trace with only some steps.
#pragma once

#include "base/result.h"
#include "core/loaded_trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

/// Returns the steps in order of their start. Empty if the trace has no ProfilerStep#N annotation.
/// If the numbers restart (a number occurs again after the end of all steps before), the numbers of
/// all later steps are raised, so that they continue: 5, 6, 5, 6 become 5, 6, 7, 8. `restarted`
/// says whether they do.
[[nodiscard]] std::vector<ProfilerStep> profiler_steps(const Trace& trace,
                                                       bool* restarted = nullptr);

/// Returns the number of the step that contains the start of a CPU event; -1 = outside all steps.
/// `steps` must be sorted by start.
[[nodiscard]] std::int64_t step_at(const std::vector<ProfilerStep>& steps, std::int64_t ts_ns);

/// Returns the numbers of the steps.
[[nodiscard]] std::set<std::int64_t> step_numbers(const std::vector<ProfilerStep>& steps);

/// Finds the steps of GPU work: the only rule for all results of single steps. Work belongs to the
/// step of its launch. Work without a launch belongs to the step of the launched work before it on
/// its stream, or on its device if the stream has no launched work. Work before all launched work
/// was launched before the recording, so it belongs to no step. If nothing has a launch, work
/// belongs to the step in which it starts.
class StepsOfGpuWork {
public:
  StepsOfGpuWork() = default;
  /// O(n log n) if some GPU work has no launch.
  StepsOfGpuWork(const Trace& trace, const CallTree& tree);

  /// Returns the number of the step of a GPU event of this trace; -1: none.
  [[nodiscard]] std::int64_t of(const Trace& trace, const CallTree& tree, EventId event) const;
  /// The profiler steps of the trace, ordered by start.
  [[nodiscard]] const std::vector<ProfilerStep>& steps() const { return steps_; }

private:
  /// Launched work: start and step, ordered by start. Only the first of successive events of a
  /// step.
  using Starts = std::vector<std::pair<std::int64_t, std::int64_t>>;
  std::vector<ProfilerStep> steps_;
  std::map<std::pair<std::int16_t, std::int32_t>, Starts> by_stream_; ///< by device and stream
  std::map<std::int16_t, Starts> by_device_;
};

/// Parses "N" or "A:B" as a range that includes both ends. Errors: kUsage.
Result<std::pair<std::int64_t, std::int64_t>> parse_steps(const std::string& text,
                                                          std::string_view option = "--step");
/// Returns "step 12" or "steps 12 to 15".
[[nodiscard]] std::string steps_text(const std::pair<std::int64_t, std::int64_t>& steps);

/// Returns a copy of the trace with only the events in `rows`, which are ascending. The ids of
/// texts and the uids of events do not change. All flows and counters are copied.
[[nodiscard]] Trace select_events(const Trace& trace, const std::vector<EventId>& rows);

/// Returns a copy of the trace with only the steps `first` to `last`: the CPU events that start
/// within one of these steps and the GPU work that they launched, at whatever time it runs. GPU
/// work without a launch is selected by StepsOfGpuWork. Errors: kUsage if the trace does not
/// contain any of the steps (the message lists the steps that it contains).
Result<Trace> restrict_to_steps(const Trace& trace, const CallTree& tree, std::int64_t first,
                                std::int64_t last);
/// Returns a copy of the trace whose call tree is built by other rules.
[[nodiscard]] LoadedTrace linked_again(const LoadedTrace& source, TreeRules rules);
/// Like restrict_to_steps(), with a call tree built by the rules of `source`, with or without
/// Python frames.
Result<LoadedTrace> part_of_steps(const LoadedTrace& source, std::int64_t first, std::int64_t last,
                                  bool include_python);

/// A time range of the CPU events of a process.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t pid = 0;
};
/// Returns a copy of the trace with only the CPU events of the process that start in one of the
/// windows, and the GPU work that they launched, at whatever time it runs. The call tree is built
/// again.
[[nodiscard]] LoadedTrace part_of_windows(const LoadedTrace& source,
                                          std::vector<TimeWindow> windows, bool include_python);

} // namespace rankscope
