// Chrome JSON with the activities of a pipeline-parallel job (core/pipeline_timeline.h).
#pragma once

#include "base/result.h"
#include "core/pipeline_timeline.h"

#include <string>
#include <string_view>

namespace rankscope {

/// By the first bytes of a file after decompression (64 KiB): whether it is such a timeline.
[[nodiscard]] bool is_pipeline_timeline(std::string_view head);
[[nodiscard]] bool is_pipeline_timeline_file(const std::string& path);

/// {"name": OP, "ph": "X", "pid": DP rank, "tid": track, "ts": us, "dur": us, "args": {"step",
/// "model_chunk", "seq_id"}} with the stage in the name of the track: "PP rank 1, TP rank 0,
/// compute". A worker has five tracks; its rank is tid / 5. The file may be compressed. Errors:
/// kUnreadable for a file that is not complete or not of this form, with the event.
[[nodiscard]] Result<PipelineTimeline> read_pipeline_timeline(const std::string& path);

} // namespace rankscope
