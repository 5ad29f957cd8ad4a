// A figure that a workload prints, taken from its log.
#pragma once

#include "base/result.h"

#include <optional>
#include <regex>
#include <string>

namespace rankscope {

/// Errors: kUsage when it is no expression or has no group for the number.
Result<std::regex> figure_expression(const std::string& text);

/// Mean of the numbers that group 1 of the expression finds, the first of each line; a carriage
/// return ends a line too. Lines beyond 4 KiB are passed over. None when no line has one.
[[nodiscard]] std::optional<double> figure_of_log(const std::string& path,
                                                  const std::regex& expression);

} // namespace rankscope
