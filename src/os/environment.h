// The environment of a child and the programs that it finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

/// Our environment as NAME=VALUE, without `unset`, with `set` over it (the last of a name counts).
[[nodiscard]] std::vector<std::string> changed_environment(const EnvironmentChanges& set,
                                                           const std::vector<std::string>& unset);

/// PATH of such an environment.
[[nodiscard]] std::string path_variable(const std::vector<std::string>& environment);

/// The program that exec would find in PATH; "" = none. A name with a slash is itself.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& path);

} // namespace rankscope
