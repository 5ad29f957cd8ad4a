// A small file's bytes, whole.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rankscope {

/// All bytes as they are. Errors: kUnreadable, also of a folder; `hint` goes with it.
[[nodiscard]] Result<std::string> read_whole(const std::string& path, const std::string& hint = "");
/// A file that is there whole or not at all; its folder is made. Errors: kOutput.
Result<void> write_whole(const std::string& path, std::string_view bytes);

} // namespace rankscope
