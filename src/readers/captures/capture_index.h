// The index of a folder of capture traces, execution_details.json:
//   [{"file": "graph_capture_rank_0.pt.trace.json.gz", "batch_size": 32, "mode": "FULL"}, ...]
// The mode is FULL or PIECEWISE. Trace splitters write a file with this name but other content.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct CaptureIndexEntry {
  std::string file; ///< file name in the folder
  std::int64_t batch_size = 0;
  bool full = true; ///< FULL; otherwise PIECEWISE
};

inline constexpr const char* kCaptureIndexName = "execution_details.json";

/// Returns the entries in file order. Entries without a plain file name, with another mode, or with
/// a batch size that is not an integer of 0 or more are omitted and counted in `diag`. Returns
/// nullopt if the file does not exist, or if it is a list without "file" (which trace splitters
/// write). Errors: kUnreadable if it is not a JSON list.
Result<std::optional<std::vector<CaptureIndexEntry>>> read_capture_index(const std::string& folder,
                                                                         Diagnostics& diag);

} // namespace rankscope
