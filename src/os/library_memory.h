// Memory for libraries that crash where an allocation fails (libxlsxwriter, fontconfig, DuckDB):
// they are not called when a limit (ulimit -v) leaves less than they take.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace rankscope {

/// A claim on memory, which others see until its end. It allocates nothing.
class LibraryMemory {
public:
  /// `path`: of the output. Errors: kOutput when `bytes` and what others claim cannot be allocated.
  static Result<LibraryMemory> claim(std::size_t bytes, const std::string& path);
  LibraryMemory(LibraryMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  LibraryMemory& operator=(LibraryMemory&&) = delete;
  ~LibraryMemory();

private:
  explicit LibraryMemory(std::size_t bytes) : bytes_(bytes) {}
  std::size_t bytes_;
};

/// To call before threads start. Under a limit of address space all of them allocate from one
/// arena: a separate one takes 64 MiB at once, and where that fails a page for every small
/// allocation, so that a claim says nothing about what a library gets.
void allocate_from_one_arena_under_a_limit();

} // namespace rankscope
