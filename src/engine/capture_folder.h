// A folder of capture traces: its files, the batch of each, and how they are merged into a trace.
#pragma once

#include "analyses/inference/graph_merge.h"
#include "engine/loader.h"

#include <string>
#include <vector>

namespace rankscope {

struct CaptureOptions {
  bool keep_python = false; ///< frames of the captures are put in too
  bool compat = false;      ///< the reference's rules
  unsigned threads = 1;
  TaskPool* pool = nullptr;
};

/// Returns the capture traces of a folder, for a trace of this rank (kNoId = unknown). The index
/// (readers/captures/capture_index.h) lists them; without it every trace directly in the folder is
/// read, in the order of names. Batch and mode come from annotations capture_N_MODE if there are as
/// many as frames "_dummy_run". Else the batch is the most frequent first extent of all tensors,
/// and the mode is FULL if at most one stream capture began. Of several files for one batch and
/// mode, the file of the trace's rank counts (distributedInfo, else rankN in its name). If that is
/// not one file, `problem` says so (compat: the last file counts). Errors: kUnreadable.
Result<std::vector<CaptureFile>> list_captures(const std::string& folder, std::int64_t rank,
                                               const CaptureOptions& options, Diagnostics& diag);

/// Calls list_captures() and merge_captures(). The trace's diagnostics and graph_launches name what
/// was not merged. Errors: those of list_captures(), kUnreadable when the folder has no trace; then
/// the trace is unchanged.
Result<void> merge_capture_folder(LoadedTrace& trace, const std::string& folder,
                                  const CaptureOptions& options);

} // namespace rankscope
