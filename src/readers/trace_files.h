// Lists the traces in a folder for discovery.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "readers/reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct Listing {
  std::vector<std::string> files;   ///< files that a reader accepts, sorted
  std::vector<std::string> folders; ///< all subfolders that were entered, sorted
};

/// Lists the traces in `root` and its subfolders; if `root` is a file, only this file. Hidden files
/// and rankscope's own outputs are omitted. Links to folders are followed, but each real folder is
/// entered only once: by its own path if it is below `root`, otherwise by a link. Folders that
/// cannot be entered are reported in `diag` (data loss). Errors: kUnreadable if `root` does not
/// exist or cannot be entered.
Result<Listing> list_traces(const std::string& root, Readers known, Diagnostics& diag);

} // namespace rankscope
