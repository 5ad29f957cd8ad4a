// Which annotated inference step (vLLM, SGLang, ATOM) a call belongs to.
#pragma once

#include "core/loaded_trace.h"

#include <cstdint>
#include <vector>

namespace rankscope {

class InferenceSteps {
public:
  explicit InferenceSteps(const Trace& trace);

  /// Name of the innermost step annotation of the same process that is open when the event starts,
  /// or kEmptyStr. Annotations with all sums come first: short ones are used only where a trace has
  /// no other. O(log n).
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
[[nodiscard]] const InferenceSteps& inference_steps_of(const LoadedTrace& trace);

} // namespace rankscope
