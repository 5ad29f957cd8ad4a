#include "os/library_memory.h"

#include <atomic>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace rankscope {
namespace {

std::atomic<std::size_t> claimed_bytes = 0;

/// Returns whether `bytes` more of address space can be reserved.
bool can_be_allocated(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return false;
  ::munmap(at, bytes);
  return true;
}

} // namespace

Result<LibraryMemory> LibraryMemory::claim(std::size_t bytes, const std::string& path) {
  LibraryMemory out(bytes);
  if (can_be_allocated(claimed_bytes += bytes))
    return out;
  return Error{
      ErrorCode::kOutput, path,
      fmt::format("needs {} MiB of memory, but a memory limit leaves less", (bytes >> 20U) + 1),
      "raise the limit (ulimit -v) or lower -j"};
}

LibraryMemory::~LibraryMemory() {
  claimed_bytes -= bytes_;
}

void allocate_from_one_arena_under_a_limit() {
  constexpr rlim_t kAmple = rlim_t{16} << 30U; // above this limit, the arenas of all threads are
                                               // small in comparison
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < kAmple)
    ::mallopt(M_ARENA_MAX, 1);
}

void return_free_memory() {
  ::malloc_trim(0);
}

} // namespace rankscope
