// The environment variables of a child, and the search for programs in its PATH.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

/// Returns the environment of this process as NAME=VALUE texts, without the names in `unset` and
/// with the values in `set`. If `set` contains a name twice, the last value is used.
[[nodiscard]] std::vector<std::string> changed_environment(const EnvironmentChanges& set,
                                                           const std::vector<std::string>& unset);

/// Returns the value of PATH in a list of NAME=VALUE texts.
[[nodiscard]] std::string path_variable(const std::vector<std::string>& environment);

/// Returns the path of the program that exec would start, searched in `path`; "" if it is not
/// found. A name with a slash is returned unchanged.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& path);

} // namespace rankscope
