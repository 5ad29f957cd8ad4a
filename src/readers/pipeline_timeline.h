// Reads Chrome JSON files with the activities of a pipeline-parallel job
// (core/pipeline_timeline.h).
#pragma once

#include "base/result.h"
#include "core/pipeline_timeline.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether a file is such a timeline. `head`: its first bytes after decompression (64 KiB).
[[nodiscard]] bool is_pipeline_timeline(std::string_view head);
[[nodiscard]] bool is_pipeline_timeline_file(const std::string& path);

/// Reads events {"name": OP, "ph": "X", "pid": DP rank, "tid": track, "ts": us, "dur": us, "args":
/// {"step", "model_chunk", "seq_id", "mb_id"}}. The name of a track contains the stage: "PP rank 1,
/// TP rank 0, compute". Each worker has five tracks, so its rank is tid / 5. The file may be
/// compressed. Errors: kUnreadable, with the event, if the file is incomplete or has another
/// format.
[[nodiscard]] Result<PipelineTimeline> read_pipeline_timeline(const std::string& path);

} // namespace rankscope
