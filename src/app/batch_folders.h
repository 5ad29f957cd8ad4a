// Which folders below a base have traces for the batch report, and where each report goes.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "readers/discovery.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct BatchSearch {
  std::string base;                           ///< searched with all that lies below, not hidden
  std::string pattern = "rank_";              ///< regular expression in front of the rank's number
  std::string extension = "json";             ///< "json" or "gz"
  std::vector<std::string> filters{"rank_0"}; ///< texts, each of which the whole path has
  std::string output;                         ///< "" = beside the traces
};

struct BatchFolder {
  RunPlan plan;               ///< ranks ascending by number
  std::string output;         ///< the report
  std::optional<Error> error; ///< why it cannot be had
  std::vector<std::string> notes;
};

/// By their paths. What cannot be looked into or belongs to no rank is named in `diag` (data loss).
/// Errors: kUsage (no such extension, a bad pattern, `output` with several folders), kUnreadable
/// (nothing found, with what is there instead).
Result<std::vector<BatchFolder>> find_batch_folders(const BatchSearch& search, Diagnostics& diag);

} // namespace rankscope
