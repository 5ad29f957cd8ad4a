// Masks secrets in files and lines that others read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Returns whether the variable is secret: a token, key or password, or the value contains an
/// address with a login.
[[nodiscard]] bool is_secret(std::string_view name, std::string_view value);

/// Returns the value, or "***" for a secret.
[[nodiscard]] std::string_view masked_value(std::string_view name, std::string_view value);

/// Returns the argument; a secret value of NAME=VALUE and the logins of addresses are masked.
[[nodiscard]] std::string masked_argument(const std::string& argument);
/// Masks each argument like masked_argument(), and the word after an option that names a secret:
/// --password ***.
[[nodiscard]] std::vector<std::string> masked_arguments(const std::vector<std::string>& argv);

} // namespace rankscope
