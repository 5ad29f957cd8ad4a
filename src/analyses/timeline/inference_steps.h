// The annotated steps of an inference server (vLLM, SGLang, ATOM, xDiT): their requests, their
// begin and end on the CPU, and the step that a call belongs to.
#pragma once

#include "core/loaded_trace.h"
#include "model/step_annotation.h"

#include <cstdint>
#include <vector>

namespace rankscope {

struct AnnotatedStep {
  EventId annotation = kNoEvent;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StepCounts counts{};
};

/// Returns the steps ordered by start. If a trace has annotations with all sums (has_all_sums()),
/// only those are returned: patched servers also write the short form around the same step. Empty
/// for a trace without annotations.
[[nodiscard]] std::vector<AnnotatedStep> annotated_steps(const Trace& trace);

class InferenceSteps {
public:
  explicit InferenceSteps(const Trace& trace);

  /// Returns the name of the innermost step of annotated_steps() in the same process that is open
  /// when the event starts, or kEmptyStr. O(log n).
  [[nodiscard]] StrId at(const Trace& trace, EventId e) const;

private:
  struct Step {
    std::int64_t pid;
    StrId pid_text;
    std::int64_t start_ns;
    std::int64_t end_ns;
    StrId name;
    std::size_t outer = kNone; ///< index of the step that was open when this step began
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<Step> steps_; ///< ordered by process, then by start
};

/// Key of the steps of a trace; computed at the first call.
struct InferenceStepsKey {
  using Value = InferenceSteps;
  auto operator<=>(const InferenceStepsKey&) const = default;
};
[[nodiscard]] InferenceSteps compute(const LoadedTrace& trace, const InferenceStepsKey& key);

} // namespace rankscope
