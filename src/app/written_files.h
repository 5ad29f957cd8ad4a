// What a command that only writes files says with --json.
#pragma once

#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// A table `files` with a row for each path, in their order: file, kind (its ending, or "folder")
/// and bytes; what cannot be said (a folder's size, standard output) is blank.
[[nodiscard]] Report written_files(const std::string& title, const std::vector<std::string>& files);

} // namespace rankscope
