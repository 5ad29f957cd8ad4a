// Which traces lie below a folder: the walk of discovery.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "readers/reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct Listing {
  std::vector<std::string> files;   ///< by name what a reader takes, sorted
  std::vector<std::string> folders; ///< all that were entered but `root`, sorted
};

/// What lies below `root`, or `root` itself when it is a file; without hidden files and what
/// rankscope writes itself. Links to folders are followed, but each real folder is entered once, by
/// its own path where that is below `root`. A folder that cannot be entered is named in `diag`
/// (data loss). Errors: kUnreadable when there is no `root` or it cannot be entered.
Result<Listing> list_traces(const std::string& root, Readers known, Diagnostics& diag);

[[nodiscard]] bool ends_with(std::string_view text, std::string_view end);

} // namespace rankscope
