// Findings about missing or damaged lines in the logs of GPU libraries.
#pragma once

#include "core/finding.h"

#include <cstdint>
#include <string>

namespace rankscope {

/// Reports lines in a library's log that could not be read; `first` is the first of them.
[[nodiscard]] Finding damaged_log_lines(const std::string& library, std::uint64_t damaged,
                                        std::uint64_t lines, const std::string& first);

/// Reports that the log of a traced library contains no line.
[[nodiscard]] Finding silent_library(const std::string& library);

} // namespace rankscope
