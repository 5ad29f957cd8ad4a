// Which steps of a serving trace to look at: the steady state, a window of it, one phase. On lists
// of steps alone; the events of the chosen ones are taken by core/steps.h.
#pragma once

#include "analyses/timeline/inference_steps.h"
#include "base/result.h"
#include "core/loaded_trace.h"
#include "model/step_annotation.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Places [begin, end) in a list of steps.
struct StepRange {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
  bool operator==(const StepRange&) const = default;
};

/// Where the number of requests stays near its maximum M: |r - M| <= max(1, f M), f = 0.1 with
/// `window` steps and more, else 0.2. A region opens at the sixth such step and begins at the first
/// of the six; it closes when as many steps fell out of it as had been counted. One that is open at
/// the end goes to the end (compat: the last step is left out). None: the middle of the trace, so
/// long as `window` asks. Never empty for a list that is not.
[[nodiscard]] std::vector<StepRange> steady_regions(const std::vector<StepCounts>& steps,
                                                    std::size_t window, bool compat);

struct WindowOptions {
  std::size_t steps = 32;                  ///< of a window
  std::optional<std::int64_t> concurrency; ///< requests that the load keeps open
  std::optional<double> output_tokens;     ///< of the longest request
  std::optional<double> length_ratio;      ///< R: shortest over longest of those, 0 to 1
  bool compat = false;
  bool whole = false; ///< all steps are the steady region
};

/// The windows of the longest steady region (the first of equals); nullopt: no such step in it.
struct SteadyWindows {
  StepRange region;
  double reference = 0;            ///< share of steps with prefill that the mixed window aims at
  std::optional<StepRange> mixed;  ///< the window whose share is nearest, then with most
                                   ///< requests, then the first
  std::optional<StepRange> decode; ///< longest run of steps that only decode, cut to the window
  std::optional<StepRange> prefill_mix; ///< the same of steps with prefill
};
/// reference = steps with prefill / steps, over all regions; with concurrency C, output_tokens L
/// and length_ratio R all given: 2 C / (L (1 + R)), and the mixed window is long enough for one
/// such step. Windows are tried at strides of steps / 10. Source: the splitter of the reference.
[[nodiscard]] SteadyWindows steady_windows(const std::vector<StepCounts>& steps,
                                           const WindowOptions& options);

/// What a report is restricted to; empty texts: everything.
/// The steady state of a server, or its best window of a kind.
enum class SteadyPart { kRegion, kMixed, kDecode, kPrefill };

struct StepChoice {
  std::optional<StepPhase> phase;
  std::string iterations; ///< "N" or "A:B", places from 0, B not included
  std::optional<SteadyPart> steady;
  WindowOptions window{};

  [[nodiscard]] bool any() const { return phase || !iterations.empty() || steady; }
};

/// "N", "A:B" (B not included, one beyond the end is the end), "all" or "", of so many steps.
/// Errors: kUsage.
Result<StepRange> iteration_range(const std::string& iterations, std::size_t steps);

/// Returns the places of the chosen steps, ascending. Selects by `iterations` first, then by steady
/// window, then by phase. Errors: kUsage when the trace has no annotated steps, or when no step is
/// left; the help then counts the steps of each phase.
Result<std::vector<std::size_t>> choose_steps(const std::vector<AnnotatedStep>& steps,
                                              const StepChoice& choice);

/// The trace of the chosen steps: CPU events that start within one of them, on any thread of its
/// process, and the GPU work they launched. `chosen` describes them in words.
Result<LoadedTrace> part_of_choice(const LoadedTrace& whole, const StepChoice& choice,
                                   bool include_python, std::string& chosen);

} // namespace rankscope
