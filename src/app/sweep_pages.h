// Use case: analysed sweeps side by side on one page.
#pragma once

#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct AnalysedFolder {
  std::string folder; ///< of a sweep or of its outputs
  std::string label;
};

/// Reads what analyze left in each folder, or the parts of each sweep, and writes the page. Errors:
/// kUnreadable, with the hint to run analyze, where a folder has nothing of this version; kOutput.
Result<void> write_analysed_page(Session& session, const std::vector<AnalysedFolder>& sweeps,
                                 const std::string& path);

/// The last part of a path, whatever slashes end it.
[[nodiscard]] std::string leaf_name(const std::string& path);

} // namespace rankscope
