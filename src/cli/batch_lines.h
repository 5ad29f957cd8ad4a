// Lines of the reports of several folders.
#pragma once

#include "app/batch.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the lines of all reports in order. A line that several folders share appears once, with
/// the number of folders.
[[nodiscard]] std::vector<std::string> shared_lines(const std::vector<BatchReport>& reports,
                                                    std::vector<std::string> BatchReport::*lines);

} // namespace rankscope
