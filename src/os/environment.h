// The environment of a child and the programs that it finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

/// Returns our environment as NAME=VALUE without `unset` and with `set` (a name's last one counts).
[[nodiscard]] std::vector<std::string> changed_environment(const EnvironmentChanges& set,
                                                           const std::vector<std::string>& unset);

/// Returns PATH of such an environment.
[[nodiscard]] std::string path_variable(const std::vector<std::string>& environment);

/// Returns what exec would find in PATH, "" = not found; returns a name with a slash unchanged.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& path);

} // namespace rankscope
