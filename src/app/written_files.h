// What a command that only writes files says with --json.
#pragma once

#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// A table `files` with a row for each path, in their order.
[[nodiscard]] Report written_files(const std::string& title, const std::vector<std::string>& files);

} // namespace rankscope
