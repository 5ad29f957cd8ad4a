// Findings on missing or damaged lines in logs of GPU libraries.
#pragma once

#include "core/finding.h"

#include <cstdint>
#include <string>

namespace rankscope {

/// Reports lines of a library that could not be read; `first` is the first damaged line.
[[nodiscard]] Finding damaged_log_lines(const std::string& library, std::uint64_t damaged,
                                        std::uint64_t lines, const std::string& first);

/// Reports a traced library whose log has no line.
[[nodiscard]] Finding silent_library(const std::string& library);

} // namespace rankscope
