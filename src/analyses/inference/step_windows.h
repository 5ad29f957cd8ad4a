// The choice of steps of a serving trace: the steady state, a window of it, or one phase. Works
// only on lists of steps; core/steps.h selects the events of the chosen steps.
#pragma once

#include "analyses/timeline/inference_steps.h"
#include "base/result.h"
#include "core/loaded_trace.h"
#include "model/step_annotation.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Positions [begin, end) in a list of steps.
struct StepRange {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
  bool operator==(const StepRange&) const = default;
};

/// Returns the regions in which the number of requests r stays near its maximum M: |r - M| <=
/// max(1, f M), with f = 0.1 if there are `window` steps or more, else 0.2. A region opens at the
/// sixth near step and begins five steps earlier. It closes at the sixth step that is not near. A
/// region that is open at the end extends to the end (compat: without the last step). If there is
/// no region, returns the middle of the trace: half of max(8, `window` - steps) steps are cut at
/// each end. Never empty for a non-empty list.
[[nodiscard]] std::vector<StepRange> steady_regions(const std::vector<StepCounts>& steps,
                                                    std::size_t window, bool compat);

struct WindowOptions {
  std::size_t steps = 32;                  ///< length of a window
  std::optional<std::int64_t> concurrency; ///< number of requests that the load keeps in flight
  std::optional<double> output_tokens;     ///< output tokens of the longest request
  /// R: output tokens of the shortest request divided by those of the longest, 0 to 1.
  std::optional<double> length_ratio;
  bool compat = false;
  bool all_steady = false; ///< true: all steps count as the steady region
};

/// The windows of the longest steady region (the first one if several are equal). A window is
/// nullopt if the region has no step of its kind.
struct SteadyWindows {
  StepRange region;
  double reference = 0; ///< target share of steps with prefill for the mixed window
  /// The window with the share of prefill steps that is nearest to `reference`; windows with
  /// prefill take precedence. If several are equally near: the window with the most requests, then
  /// the first.
  std::optional<StepRange> mixed;
  std::optional<StepRange> decode; ///< longest run of decode-only steps, cut to the window length
  /// The longest run of steps with prefill, cut to the window length.
  std::optional<StepRange> prefill_mix;
};
/// Returns the windows. reference = steps with prefill / steps, over all regions. If concurrency C,
/// output_tokens L and length_ratio R are all given, reference is 2 C / (L (1 + R)), and the mixed
/// window is long enough for one step with prefill. Windows of n steps are tried at strides of
/// n / min(n / 2, 10).
/// Source: the splitter of the reference.
[[nodiscard]] SteadyWindows steady_windows(const std::vector<StepCounts>& steps,
                                           const WindowOptions& options);

/// The steady state of a server, or its best window of a kind.
enum class SteadyPart { kRegion, kMixed, kDecode, kPrefill };

/// The part of a trace that a report is restricted to. Empty texts select everything.
struct StepChoice {
  std::optional<StepPhase> phase;
  std::string iterations; ///< "N" or "A:B": positions from 0, B not included
  std::optional<SteadyPart> steady;
  WindowOptions window{};

  [[nodiscard]] bool any() const { return phase || !iterations.empty() || steady; }
};

/// Returns the range given by "N", "A:B" (B not included; a B beyond the end means the end), "all"
/// or "". `steps`: the number of steps. Errors: kUsage.
Result<StepRange> iteration_range(const std::string& iterations, std::size_t steps);

/// Returns the positions of the chosen steps, ascending. Selects by `iterations` first, then by
/// steady window, then by phase. Errors: kUsage if the trace has no annotated steps, or if no step
/// is left. In the second case, the help text shows the number of steps in each phase.
Result<std::vector<std::size_t>> choose_steps(const std::vector<AnnotatedStep>& steps,
                                              const StepChoice& choice);

/// Returns the trace of the chosen steps: CPU events that start within a chosen step, on any thread
/// of its process, and the GPU work that they launched. The part refers to the complete trace.
/// `chosen` is set to a description of the steps.
Result<LoadedTrace> part_of_choice(LoadedTrace trace, const StepChoice& choice, bool include_python,
                                   std::string& chosen);

} // namespace rankscope
