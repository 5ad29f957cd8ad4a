// The merge of a trace with the captures of its graphs: a graph launch shows kernels without
// operators, the trace of the graph's capture shows the operators without kernels. Each launch gets
// the part of the capture's call tree above the calls that its kernels came from.
#pragma once

#include "analyses/inference/graph_launches.h"
#include "base/result.h"
#include "core/loaded_trace.h"

#include <functional>
#include <vector>

namespace rankscope {

/// Loads the trace of a capture, with the kernels that its launches name. Asked once or a few times
/// for each file; an Error leaves the launches of that file as they are.
using LoadCapture = std::function<Result<LoadedTrace>(const CaptureFile&)>;

struct GraphMergeOptions {
  bool compat = false; ///< the reference's rules, its numbers of events and its times
};

/// Puts operators (and frames, where the captures have them) under the graph launches of `trace`,
/// in place; fills its graph_launches, and its diagnostics with what was not matched.
///
/// Which capture: that of the step around the launch (parse_step_counts(); the smallest batch that
/// is not below the step's; several parts for a step with any number of launches but one). A
/// capture with one graph serves every launch of a step. With more graphs, the step needs as many
/// launches; they pair in order. A launch still without a graph is compared with the graphs of all
/// files: it takes the one with the same kernels by name and position, if only one batch size has
/// such a graph (not in compat mode).
///
/// What is put in: events above a call with a kernel, with their durations and the start, process
/// and thread of the launch (compat: start and length of the launch, ids of the capture). Loads a
/// capture once for its steps, and once more if launches are left.
void merge_captures(LoadedTrace& trace, const std::vector<CaptureFile>& files,
                    const LoadCapture& load, const GraphMergeOptions& options);

} // namespace rankscope
