// The graph launches of a trace, the annotated steps they belong to, and the captures of those.
#pragma once

#include "analyses/timeline/inference_steps.h"
#include "core/loaded_trace.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// One file of a capture folder.
struct CaptureFile {
  std::string path;
  std::int64_t batch_size = 0;
  bool full = true;    ///< one graph for the complete model; else one for each of its parts
  std::string problem; ///< why it cannot be used; "" = it can
};

struct FoundLaunch {
  EventId event = kNoEvent;
  std::vector<EventId> kernels{}; ///< all GPU work that it ran, by start
};

/// Returns runtime and driver calls named *GraphLaunch*, by start. Leaves out a call that ran
/// nothing and is a direct child of another one (its driver call).
[[nodiscard]] std::vector<FoundLaunch> find_graph_launches(const LoadedTrace& trace);

struct StepLaunches {
  AnnotatedStep step;
  std::vector<std::size_t> launches{}; ///< places in the list of launches
};

/// Returns the annotated steps. A launch that begins and ends in a step belongs to the innermost
/// such step; if a step was annotated twice, to the later annotation.
[[nodiscard]] std::vector<StepLaunches>
steps_with_launches(const Trace& trace, const std::vector<FoundLaunch>& launches);

/// Returns the file with the smallest batch that is at least `batch`. If that batch has both kinds:
/// the full graph for one launch, else the parts. Of equal files the last. nullopt: see `why`.
[[nodiscard]] std::optional<std::size_t> choose_capture(const std::vector<CaptureFile>& files,
                                                        std::int64_t batch, std::size_t launches,
                                                        std::string& why);

} // namespace rankscope
