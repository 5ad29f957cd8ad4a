// The environment variables of a child, and the search for programs in its PATH.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

/// Returns our environment as NAME=VALUE texts, without the names in `unset` and with those in
/// `set`. If `set` contains a name twice, the last value counts.
[[nodiscard]] std::vector<std::string> changed_environment(const EnvironmentChanges& set,
                                                           const std::vector<std::string>& unset);

/// Returns the value of PATH in an environment of NAME=VALUE texts.
[[nodiscard]] std::string path_variable(const std::vector<std::string>& environment);

/// Returns the program that exec would find in `path`, or "". Returns a name with a slash
/// unchanged.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& path);

} // namespace rankscope
