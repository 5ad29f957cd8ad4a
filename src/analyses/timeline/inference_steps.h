// The annotated steps of an inference server (vLLM, SGLang, ATOM, xDiT): what requests each works
// for, where it begins and ends on the CPU, and which of them a call belongs to.
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

/// By start. Where a trace has annotations with all sums (has_all_sums()), only those: patched
/// servers write the short form around the same step. Empty for a trace without any.
[[nodiscard]] std::vector<AnnotatedStep> annotated_steps(const Trace& trace);

class InferenceSteps {
public:
  explicit InferenceSteps(const Trace& trace);

  /// Name of the innermost step annotation of the same process that is open when the event starts,
  /// or kEmptyStr; of annotated_steps(). O(log n).
  [[nodiscard]] StrId at(const Trace& trace, EventId e) const;

private:
  struct Step {
    std::int64_t pid;
    StrId pid_text;
    std::int64_t start_ns;
    std::int64_t end_ns;
    StrId name;
    std::size_t outer = kNone; ///< the step that was open when it began
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<Step> steps_; ///< by process, then start
};

/// Those of a trace; made at the first call.
struct InferenceStepsKey {
  using Value = InferenceSteps;
  auto operator<=>(const InferenceStepsKey&) const = default;
};
[[nodiscard]] InferenceSteps compute(const LoadedTrace& trace, const InferenceStepsKey& key);

} // namespace rankscope
