// The merge of a trace with the captures of its graphs. A graph launch shows kernels without
// operators; the trace of its capture shows operators without kernels. Each launch gets the part of
// the capture's call tree above the calls of its kernels.
#pragma once

#include "analyses/inference/graph_launches.h"
#include "base/result.h"
#include "core/loaded_trace.h"

#include <functional>
#include <vector>

namespace rankscope {

/// Loads the trace of a capture with the kernel names of its launches. Called at most twice for
/// each file. After an Error, the launches of that file stay unchanged.
using LoadCapture = std::function<Result<LoadedTrace>(const CaptureFile&)>;

struct GraphMergeOptions {
  bool compat = false; ///< the reference's rules, its numbers of events and its times
};

/// Inserts operators (and frames, if the captures have them) below the graph launches of `trace`,
/// in place. Fills its graph_launches, and reports unmatched launches in its diagnostics.
///
/// The capture is chosen by the step around the launch (parse_step_counts()). It has the smallest
/// batch that is not below the step's batch. If this batch has both a capture of the complete model
/// and one of its parts, the capture of the parts is used for steps with more or less than one
/// launch. A capture with one graph is used for every launch of a step. If a capture has several
/// graphs, the step must have as many launches as the capture has graphs; they are paired in order.
/// A launch that still has no graph is compared with the graphs of all files. It gets the graph
/// with the same kernels by name and position, if only one batch size has such a graph (not in
/// compat mode).
///
/// The inserted events are those above a call with a kernel. They have their own durations and the
/// start, process and thread of the launch (compat: start and length of the launch, ids of the
/// capture). A capture is loaded once for its steps, and once more if some launches still have no
/// graph.
void merge_captures(LoadedTrace& trace, const std::vector<CaptureFile>& files,
                    const LoadCapture& load, const GraphMergeOptions& options);

} // namespace rankscope
