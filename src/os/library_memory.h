// Memory for libraries that crash when an allocation fails (libxlsxwriter, fontconfig, DuckDB).
// Such a library is not called when a limit (ulimit -v) leaves less memory than it needs.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace rankscope {

/// A claim on memory. Other claims cannot use this memory until the object is destroyed. A claim
/// allocates nothing.
class LibraryMemory {
public:
  /// Claims `bytes` for writing the output `path`. Errors: kOutput when `bytes` and all other
  /// claims cannot be allocated together.
  static Result<LibraryMemory> claim(std::size_t bytes, const std::string& path);
  LibraryMemory(LibraryMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  LibraryMemory& operator=(LibraryMemory&&) = delete;
  ~LibraryMemory();

private:
  explicit LibraryMemory(std::size_t bytes) : bytes_(bytes) {}
  std::size_t bytes_;
};

/// Makes all threads allocate from one arena if the address space is limited. Call it before
/// threads start. A separate arena takes 64 MiB at once or, if that fails, a page per small
/// allocation; then a claim would not show how much memory a library can get.
void allocate_from_one_arena_under_a_limit();

} // namespace rankscope
