// The only way to open an input. Every input is remembered, so that no output replaces it
// (os/output_file.h).
#pragma once

#include <string>

namespace rankscope {

/// Opens a file for reading and remembers it as an input. Returns the descriptor, or -1 with errno.
/// `flags` are added to O_RDONLY | O_CLOEXEC. Thread-safe.
[[nodiscard]] int open_input(const std::string& path, int flags = 0);

/// Remembers an input that a library opens by its path, or that will be read later. Anything but a
/// regular file is ignored. Thread-safe.
void remember_input(const std::string& path);

/// Returns whether `path` leads to a file that this process has read or will read. Thread-safe.
[[nodiscard]] bool is_input(const std::string& path);

} // namespace rankscope
