// The bytes of a small file.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns all bytes of an input, unchanged; the input is remembered (os/input_file.h). Errors:
/// kUnreadable with `hint`, also for a folder and for a file above the size limit.
[[nodiscard]] Result<std::string> read_whole(const std::string& path, const std::string& hint = "");

/// Does the same for a file of rankscope itself, which it writes again: it is not remembered.
[[nodiscard]] Result<std::string> read_own(const std::string& path, const std::string& hint = "");

/// Writes a file completely or not at all; creates its folder. Errors: kOutput.
Result<void> write_whole(const std::string& path, std::string_view bytes);

} // namespace rankscope
