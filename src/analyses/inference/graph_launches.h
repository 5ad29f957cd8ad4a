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
  bool full = true;    ///< one graph for the whole model; else one for each of its parts
  std::string problem; ///< why it cannot be used; "" = it can
};

struct FoundLaunch {
  EventId event = kNoEvent;
  std::vector<EventId> kernels{}; ///< all GPU work that it ran, by start
};

/// Runtime and driver calls named *GraphLaunch*, by start; those that ran nothing and lie directly
/// in another one (its driver call) are left out.
[[nodiscard]] std::vector<FoundLaunch> find_graph_launches(const LoadedTrace& trace);

struct StepLaunches {
  AnnotatedStep step;
  std::vector<std::size_t> launches{}; ///< places in the list of launches
};

/// The annotated steps. Each launch that lies wholly in a step belongs to the innermost one; of
/// steps that were annotated twice, to the later one.
[[nodiscard]] std::vector<StepLaunches>
steps_with_launches(const Trace& trace, const std::vector<FoundLaunch>& launches);

/// The file of the smallest batch that is not below `batch`; of one batch the parts for any number
/// of launches but one, and of equal ones the last. nullopt: `why` tells.
[[nodiscard]] std::optional<std::size_t> choose_capture(const std::vector<CaptureFile>& files,
                                                        std::int64_t batch, std::size_t launches,
                                                        std::string& why);

} // namespace rankscope
