// All inputs are opened or registered here, so that no output replaces an input (os/output_file.h).
#pragma once

#include <string>

namespace rankscope {

/// Opens a file for reading and registers it as an input. Returns the descriptor, or -1 with errno;
/// ENXIO: a FIFO to which no process writes. `flags` are added to O_RDONLY | O_CLOEXEC.
/// Thread-safe.
[[nodiscard]] int open_input(const std::string& path, int flags = 0);

/// Registers an input that a library opens by its path, or that will be read later. Only regular
/// files are registered. Thread-safe.
void remember_input(const std::string& path);

/// Returns whether `path` is a registered input, also by another name of the same file.
/// Thread-safe.
[[nodiscard]] bool is_input(const std::string& path);

} // namespace rankscope
