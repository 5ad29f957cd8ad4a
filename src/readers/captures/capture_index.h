// The index of a folder of capture traces, execution_details.json:
//   [{"file": "graph_capture_rank_0.pt.trace.json.gz", "batch_size": 32, "mode": "FULL"}, ...]
// mode FULL or PIECEWISE. Trace splitters write a file of the same name with other content.
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

/// Returns the entries in file order. Omits entries without a plain file name, with another mode or
/// with a batch size that is not an integer of 0 or more, and counts them in `diag`. nullopt: the
/// file does not exist, or it is a list without "file" (a splitter's). Errors: kUnreadable when it
/// is not a JSON list.
Result<std::optional<std::vector<CaptureIndexEntry>>> read_capture_index(const std::string& folder,
                                                                         Diagnostics& diag);

} // namespace rankscope
