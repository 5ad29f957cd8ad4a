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
/// capture with one graph serves every launch of a step, else graphs and launches are equally many
/// and pair in order. A launch that gets none so is compared with the graphs of every file: it
/// takes that whose kernels it ran by name and place, where those are of one batch (not in compat
/// mode).
///
/// What is put in: events above a call with a kernel; their own durations, the start, process and
/// thread of the launch (compat: start and length of the launch, ids of the capture). Costs the
/// loading of each capture once and what is put in.
void merge_captures(LoadedTrace& trace, const std::vector<CaptureFile>& files,
                    const LoadCapture& load, const GraphMergeOptions& options);

} // namespace rankscope
