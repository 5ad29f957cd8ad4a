// What logs of GPU libraries lack.
#pragma once

#include "core/finding.h"

#include <cstdint>
#include <string>

namespace rankscope {

/// Lines of a library that could not be read; `first` is the first of them.
[[nodiscard]] Finding damaged_log_lines(const std::string& library, std::uint64_t damaged,
                                        std::uint64_t lines, const std::string& first);

/// A traced library without any line.
[[nodiscard]] Finding silent_library(const std::string& library);

} // namespace rankscope
