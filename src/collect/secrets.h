// What belongs to nobody else, in files and lines that others read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A variable whose value belongs to nobody else: tokens, keys, passwords, addresses with a login.
[[nodiscard]] bool is_secret(std::string_view name, std::string_view value);

/// The value, or "***" for a secret.
[[nodiscard]] std::string_view masked_value(std::string_view name, std::string_view value);

/// An argument with the secret of NAME=VALUE in it masked.
[[nodiscard]] std::string masked_argument(const std::string& argument);
/// The same of each, and the word behind an option that names a secret: --password ***.
[[nodiscard]] std::vector<std::string> masked_arguments(const std::vector<std::string>& argv);

} // namespace rankscope
