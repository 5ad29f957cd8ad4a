// Reads a folder of capture traces: its files, their batch sizes and modes; merges the files into a
// trace.
#pragma once

#include "analyses/inference/graph_merge.h"
#include "engine/loader.h"

#include <string>
#include <vector>

namespace rankscope {

struct CaptureOptions {
  bool keep_python = false; ///< insert the Python frames of the captures too
  bool compat = false;      ///< use the rules of the reference
  unsigned threads = 1;
  TaskPool* pool = nullptr;
};

/// Returns the capture traces of a folder, for a trace of this rank (kNoId = unknown). The index
/// (readers/captures/capture_index.h) lists them. If there is no index, all traces directly in the
/// folder are read, in the order of their names. Their batch size and mode are those in the
/// annotations capture_N_MODE, if there are as many of these as frames "_dummy_run". Otherwise, the
/// batch size is the most frequent first extent of all tensors, and the mode is FULL if at most one
/// stream capture began. If several files have the same batch size and mode, the one with the rank
/// of the trace is returned (its rank is that in distributedInfo, else that in its name). If this
/// does not identify one file, its `problem` is set. (compat: all files are returned, and
/// merge_captures() uses the last one.) Errors: kUnreadable.
Result<std::vector<CaptureFile>> list_captures(const std::string& folder, std::int64_t rank,
                                               const CaptureOptions& options, Diagnostics& diag);

/// Calls list_captures() and merge_captures(). What could not be merged is in the diagnostics and
/// the graph_launches of the trace. Errors: those of list_captures(), and kUnreadable if the folder
/// contains no trace. If an error is returned, the trace is unchanged.
Result<void> merge_capture_folder(LoadedTrace& trace, const std::string& folder,
                                  const CaptureOptions& options);

} // namespace rankscope
