// Small input files, whole.
#pragma once

#include <optional>
#include <string>

namespace rankscope {

/// All bytes of a file that is small enough for memory; it is remembered as an input, so that no
/// output replaces it (os/output_file.h). None when it cannot be read; a folder cannot.
[[nodiscard]] std::optional<std::string> text_of_input(const std::string& path);

} // namespace rankscope
