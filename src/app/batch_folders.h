// Which folders below a base have traces for the batch report, and where each report goes.
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
  RunPlan plan;               ///< ranks ascending by number
  std::string output;         ///< the report
  std::optional<Error> error; ///< why it cannot be made
  std::vector<std::string> notes;
};

/// By their paths. What cannot be looked into or belongs to no rank is named in the
/// diagnostics (data loss).
/// Errors: kUsage (no such extension, a bad pattern, `output` with several folders), kUnreadable
/// (nothing found, with what is there instead).
Result<std::vector<BatchFolder>> find_batch_folders(Session& session, const BatchSearch& search);

} // namespace rankscope
