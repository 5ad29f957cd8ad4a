// A folder of capture traces: its files, their batches, and how the files are merged into a trace.
#pragma once

#include "analyses/inference/graph_merge.h"
#include "engine/loader.h"

#include <string>
#include <vector>

namespace rankscope {

struct CaptureOptions {
  bool keep_python = false; ///< insert the Python frames of the captures too
  bool compat = false;      ///< apply the reference's rules
  unsigned threads = 1;
  TaskPool* pool = nullptr;
};

/// Returns the capture traces of a folder, for a trace of this rank (kNoId = unknown). The index
/// (readers/captures/capture_index.h) lists them. Without an index, every trace directly in the
/// folder is read, ordered by name. Batch and mode come from annotations capture_N_MODE if their
/// number equals that of the frames "_dummy_run". Otherwise the batch is the most frequent first
/// extent of all tensors, and the mode is FULL if at most one stream capture began. If several
/// files have the same batch and mode, the file of the trace's rank counts (distributedInfo, else
/// rankN in its name). If there is not exactly one such file, `problem` says so (compat: the last
/// file counts). Errors: kUnreadable.
Result<std::vector<CaptureFile>> list_captures(const std::string& folder, std::int64_t rank,
                                               const CaptureOptions& options, Diagnostics& diag);

/// Calls list_captures() and merge_captures(). The trace's diagnostics and graph_launches name the
/// parts that were not merged. Errors: those of list_captures(), kUnreadable when the folder has no
/// trace. After an error the trace is unchanged.
Result<void> merge_capture_folder(LoadedTrace& trace, const std::string& folder,
                                  const CaptureOptions& options);

} // namespace rankscope
