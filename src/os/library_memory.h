// Memory for libraries that crash where an allocation fails (libxlsxwriter, fontconfig, DuckDB):
// they are not called when a limit (ulimit -v) leaves less than they need.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace rankscope {

/// A claim on memory, which counts for other claims until it is destroyed. It allocates nothing.
class LibraryMemory {
public:
  /// `path`: the output. Errors: kOutput when `bytes` and all other claims cannot be allocated.
  static Result<LibraryMemory> claim(std::size_t bytes, const std::string& path);
  LibraryMemory(LibraryMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  LibraryMemory& operator=(LibraryMemory&&) = delete;
  ~LibraryMemory();

private:
  explicit LibraryMemory(std::size_t bytes) : bytes_(bytes) {}
  std::size_t bytes_;
};

/// Call before threads start. Under an address space limit all threads then allocate from one
/// arena. A separate arena takes 64 MiB at once and, where that fails, a page for every small
/// allocation; a claim would then not show how much memory a library gets.
void allocate_from_one_arena_under_a_limit();

} // namespace rankscope
