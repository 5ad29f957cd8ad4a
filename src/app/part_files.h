// Files of parts as bytes.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Writes a file whole or not at all; its folder is made. Errors: kOutput.
Result<void> write_file(const std::string& path, std::string_view bytes);
/// All bytes as they are. Errors: kUnreadable.
Result<std::string> read_file(const std::string& path);

} // namespace rankscope
