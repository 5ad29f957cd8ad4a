// Lines of the reports of several folders.
#pragma once

#include "app/batch.h"

#include <string>
#include <vector>

namespace rankscope {

/// Lines of all reports in order; one that several folders share is printed once, with their
/// number.
[[nodiscard]] std::vector<std::string> shared_lines(const std::vector<BatchReport>& reports,
                                                    std::vector<std::string> BatchReport::*lines);

} // namespace rankscope
