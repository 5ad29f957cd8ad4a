// Lists the traces below a folder for discovery.
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
  std::vector<std::string> folders; ///< every folder that was entered, except `root`, sorted
};

/// Lists the traces below `root`, or `root` itself if it is a file. Omits hidden files and
/// rankscope's own output. Follows links to folders, but enters each real folder once, by its own
/// path if that is below `root`. Reports folders that it cannot enter in `diag` (data loss).
/// Errors: kUnreadable when `root` does not exist or cannot be entered.
Result<Listing> list_traces(const std::string& root, Readers known, Diagnostics& diag);

[[nodiscard]] bool ends_with(std::string_view text, std::string_view end);

} // namespace rankscope
