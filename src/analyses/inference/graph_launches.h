// The graph launches of a trace, the annotated steps around them, and the captures for these steps.
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
  /// True: one graph for the complete model; false: one graph for each part of the model.
  bool full = true;
  std::string problem; ///< reason why the file cannot be used; "": the file is usable
};

struct FoundLaunch {
  EventId event = kNoEvent;
  std::vector<EventId> kernels{}; ///< all GPU work of the launch, ordered by start
};

/// Returns runtime and driver calls named *GraphLaunch*, ordered by start. Leaves out a call
/// without GPU work that is a direct child of another graph launch (the driver call below the
/// runtime call).
[[nodiscard]] std::vector<FoundLaunch> find_graph_launches(const LoadedTrace& trace);

struct StepLaunches {
  AnnotatedStep step;
  std::vector<std::size_t> launches{}; ///< positions in the list of launches
};

/// Returns the annotated steps. A launch that begins and ends in a step belongs to the innermost
/// such step. If a step was annotated twice, the launch belongs to the later annotation.
[[nodiscard]] std::vector<StepLaunches>
steps_with_launches(const Trace& trace, const std::vector<FoundLaunch>& launches);

/// Returns the file with the smallest batch that is at least `batch`. If that batch has both kinds
/// of files, returns the full graph if the step has one launch, else the parts. Among equal files,
/// the last one is returned. Returns nullopt if no file fits, with the reason in `why`.
[[nodiscard]] std::optional<std::size_t> choose_capture(const std::vector<CaptureFile>& files,
                                                        std::int64_t batch, std::size_t launches,
                                                        std::string& why);

} // namespace rankscope
