// The bytes of a small file.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rankscope {

/// All bytes of an input, as they are; the input is remembered (os/input_file.h). Errors:
/// kUnreadable with `hint`, also for a folder and for more than a small file can hold.
[[nodiscard]] Result<std::string> read_whole(const std::string& path, const std::string& hint = "");

/// The same for a file that rankscope keeps for itself and writes again: it is not remembered.
[[nodiscard]] Result<std::string> read_own(const std::string& path, const std::string& hint = "");

/// Writes a file completely or not at all; its folder is made. Errors: kOutput.
Result<void> write_whole(const std::string& path, std::string_view bytes);

} // namespace rankscope
