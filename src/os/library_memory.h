// Reserves memory for libraries that crash if an allocation fails (libxlsxwriter, fontconfig,
// DuckDB). Such a library is not called if a limit (ulimit -v) leaves less memory than it needs.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace rankscope {

/// A claim on memory: other claims cannot use this memory until the object is destroyed. The object
/// itself does not allocate the memory.
class LibraryMemory {
public:
  /// Claims `bytes` for writing the output `path`. Errors: kOutput if `bytes` and all other claims
  /// together cannot be allocated.
  static Result<LibraryMemory> claim(std::size_t bytes, const std::string& path);
  LibraryMemory(LibraryMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  LibraryMemory& operator=(LibraryMemory&&) = delete;
  ~LibraryMemory();

private:
  explicit LibraryMemory(std::size_t bytes) : bytes_(bytes) {}
  std::size_t bytes_;
};

/// If the address space is limited, makes all threads allocate from one arena. Call it before
/// threads start. A separate arena reserves 64 MiB of address space or, if that fails, needs one
/// page per small allocation; then claim() could not know how much memory a library can allocate.
void allocate_from_one_arena_under_a_limit();

/// Returns freed memory to the system. By default, the allocator keeps as much as the largest
/// traces needed.
void return_free_memory();

} // namespace rankscope
