// The --json output of a command that only writes files.
#pragma once

#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns a table `files` with a row for each path, in the given order: file, kind (its ending, or
/// "folder") and bytes. Unknown values (a folder's size, standard output) are blank.
[[nodiscard]] Report written_files(const std::string& title, const std::vector<std::string>& files);

} // namespace rankscope
