// Finds the folders below a base that have traces for the batch report, and names the file of each
// report.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "engine/rank_source.h"
#include "engine/shard_file.h"
#include "readers/discovery.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct BatchSearch : BatchNames {
  std::string base;   ///< searched with its subfolders, except hidden ones
  std::string output; ///< "" = next to the traces
};

struct BatchFolder {
  RunPlan plan;               ///< ascending by rank number
  std::string output;         ///< path of the report
  std::optional<Error> error; ///< why the report cannot be made
  std::vector<std::string> notes;
};

/// Returns the folders sorted by path. The diagnostics name files that belong to no rank and
/// folders that cannot be read (data loss). Errors: kUsage (no such extension, a bad pattern,
/// `output` with several folders), kUnreadable (no trace found; the error lists the files that
/// exist instead).
Result<std::vector<BatchFolder>> find_batch_folders(Session& session, const BatchSearch& search);

} // namespace rankscope
