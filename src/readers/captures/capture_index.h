// The index of a folder of capture traces, execution_details.json:
//   [{"file": "graph_capture_rank_0.pt.trace.json.gz", "batch_size": 32, "mode": "FULL"}, ...]
// mode FULL or PIECEWISE. A file of that name and another content is written by trace splitters.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct CaptureIndexEntry {
  std::string file; ///< name in the folder
  std::int64_t batch_size = 0;
  bool full = true; ///< else PIECEWISE
};

inline constexpr const char* kCaptureIndexName = "execution_details.json";

/// In the order of the file. Entries without a plain file name, with another mode or a batch that
/// is no whole number of 0 or more are left out and counted in `diag`. nullopt: there is no such
/// file, or it is a list without "file" (a splitter's). Errors: kUnreadable, when it is no JSON
/// list.
Result<std::optional<std::vector<CaptureIndexEntry>>> read_capture_index(const std::string& folder,
                                                                         Diagnostics& diag);

} // namespace rankscope
