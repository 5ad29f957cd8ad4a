// A folder of capture traces: what is in it, for which batch each file is, and the merge with it.
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

/// The capture traces of a folder, for a trace of this rank (kNoId = unknown). From its index
/// (readers/captures/capture_index.h); without one every trace directly in it is looked into, by
/// name: batch and mode from annotations capture_N_MODE, as many as frames "_dummy_run"; else the
/// most frequent first extent of all tensors, FULL where at most one stream capture began. Nothing
/// is written. Of several files for one batch and mode the one of the trace's rank counts
/// (distributedInfo, else rankN in its name); where none is, `problem` of the entry says so
/// (compat: the last one counts). Errors: kUnreadable.
Result<std::vector<CaptureFile>> list_captures(const std::string& folder, std::int64_t rank,
                                               const CaptureOptions& options, Diagnostics& diag);

/// list_captures() and merge_captures(); what was not merged is in the trace's diagnostics and
/// graph_launches. Errors: those of list_captures(), kUnreadable when the folder has no trace; the
/// trace is as it was.
Result<void> merge_capture_folder(LoadedTrace& trace, const std::string& folder,
                                  const CaptureOptions& options);

} // namespace rankscope
