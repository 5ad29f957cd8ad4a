// Use case: one page with analysed sweeps side by side.
#pragma once

#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct AnalysedFolder {
  std::string folder; ///< folder of a sweep or of its outputs
  std::string label;
};

/// Reads the facts that analyze saved in each folder, or the parts of each sweep, and writes the
/// page. Errors: kUnreadable, with the hint to run analyze, if a folder has no facts of this
/// version; kOutput.
Result<void> write_analysed_page(Session& session, const std::vector<AnalysedFolder>& sweeps,
                                 const std::string& path);

/// Returns the last part of a path; ignores slashes at the end.
[[nodiscard]] std::string leaf_name(const std::string& path);

} // namespace rankscope
