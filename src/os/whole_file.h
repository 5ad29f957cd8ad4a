// Reads and writes small files completely.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns all bytes of an input, and registers the input (os/input_file.h). Errors: kUnreadable
/// with `hint`, also for a folder and for a file above the size limit.
[[nodiscard]] Result<std::string> read_input_file(const std::string& path,
                                                  const std::string& hint = "");

/// Returns all bytes of a file that rankscope may replace later: unlike an input, it is not
/// registered.
[[nodiscard]] Result<std::string> read_unregistered(const std::string& path,
                                                    const std::string& hint = "");

/// Writes a file completely or not at all, and creates its folder if necessary. Errors: kOutput.
Result<void> write_with_folder(const std::string& path, std::string_view bytes);

} // namespace rankscope
