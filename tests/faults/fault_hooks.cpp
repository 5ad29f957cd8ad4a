#include "faults/fault_hooks.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <execinfo.h>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace rankscope::test {
namespace {

struct Plan {
  std::atomic<bool> armed{false};
  std::atomic<std::uint64_t> calls{0};
  std::uint64_t first = 0, last = 0;
  int error = 0;
};
// constinit, because allocations occur before constructors run
constinit std::array<Plan, kFaults> plans;

Plan& plan(Fault kind) {
  return plans[static_cast<unsigned>(kind)];
}

/// Counts a call; returns true if the call must fail.
bool due(Fault kind) {
  Plan& p = plan(kind);
  if (!p.armed.load(std::memory_order_acquire))
    return false;
  const std::uint64_t call = p.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  return call >= p.first && call <= p.last;
}

bool write_is_due(std::FILE* file) {
  if (file == stdout || file == stderr || !due(Fault::kWrite))
    return false;
  errno = plan(Fault::kWrite).error;
  return true;
}

template <class Function> Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// libstdc++ 12 allocates a directory iterator in a noexcept function. simdjson 3.0 does so too,
/// once, when it selects the implementation for the CPU. A failure there always calls
/// std::terminate, whatever the caller does.
bool where_nothing_may_be_thrown() {
  std::array<void*, 10> frames;
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < depth; ++i) {
    Dl_info info = {};
    if (::dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || info.dli_sname == nullptr)
      continue;
    const std::string_view name(info.dli_sname);
    for (const char* part :
         {"directory_iterator", "get_active_implementation", "detect_best_supported"})
      if (name.find(part) != std::string_view::npos)
        return true;
  }
  return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (due(Fault::kAllocation) && !where_nothing_may_be_thrown())
    return nullptr;
  bytes = bytes == 0 ? 1 : bytes;
  if (alignment == 0)
    return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  void* const out = allocate(bytes, alignment);
  if (out == nullptr)
    throw std::bad_alloc();
  return out;
}

Fault armed_kind = Fault::kAllocation;

void write_calls() {
  const std::uint64_t calls = disarm_fault(armed_kind);
  if (const char* path = std::getenv("RS_FAULT_CALLS"); path != nullptr)
    if (std::FILE* file = std::fopen(path, "w"); file != nullptr) {
      std::fprintf(file, "%llu", static_cast<unsigned long long>(calls));
      std::fclose(file);
    }
}

} // namespace

void arm_fault(Fault kind, std::uint64_t nth, std::uint64_t times, int error) {
  Plan& p = plan(kind);
  p.first = nth == 0 ? 1 : nth;
  p.last = nth == 0 ? 0 : nth + times - 1;
  p.error = error;
  p.calls = 0;
  p.armed.store(true, std::memory_order_release);
}

std::uint64_t disarm_fault(Fault kind) {
  plan(kind).armed = false;
  return plan(kind).calls;
}

void arm_from_environment() {
  const char* text = std::getenv("RS_FAULT");
  if (text == nullptr)
    return;
  char* at = nullptr;
  armed_kind = static_cast<Fault>(std::strtoul(text, &at, 10));
  const std::uint64_t nth = std::strtoull(at, &at, 10);
  const std::uint64_t times = std::strtoull(at, &at, 10);
  std::atexit(write_calls);
  arm_fault(armed_kind, nth, times, static_cast<int>(std::strtol(at, &at, 10)));
}

} // namespace rankscope::test

using rankscope::test::Fault;

// ---- memory ------------------------------------------------------------------------------------

void* operator new(std::size_t bytes) {
  return rankscope::test::allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return rankscope::test::allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return rankscope::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return rankscope::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return rankscope::test::allocate(bytes, 0);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return rankscope::test::allocate(bytes, 0);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}

// ---- threads -----------------------------------------------------------------------------------

/// libstdc++ starts every std::thread here; pthread_create is intercepted by the sanitizers.
void std::thread::_M_start_thread(_State_ptr state, void (*depend)()) {
  if (rankscope::test::due(Fault::kThread))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  using Start = void(std::thread*, _State_ptr, void (*)());
  static Start* const start = rankscope::test::next<Start>(
      "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE");
  start(this, std::move(state), depend);
}

// ---- files -------------------------------------------------------------------------------------

extern "C" {

std::size_t fwrite(const void* bytes, std::size_t size, std::size_t count, std::FILE* file) {
  static auto* const real =
      rankscope::test::next<std::size_t(const void*, std::size_t, std::size_t, std::FILE*)>(
          "fwrite");
  return rankscope::test::write_is_due(file) ? 0 : real(bytes, size, count, file);
}

int fflush(std::FILE* file) {
  static auto* const real = rankscope::test::next<int(std::FILE*)>("fflush");
  return rankscope::test::write_is_due(file) ? EOF : real(file);
}

int fclose(std::FILE* file) {
  static auto* const real = rankscope::test::next<int(std::FILE*)>("fclose");
  const bool fails = rankscope::test::write_is_due(file);
  const int error = errno;
  const int result = real(file);
  errno = fails ? error : errno;
  return fails ? EOF : result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = rankscope::test::next<int(const char*, const char*)>("rename");
  return rankscope::test::write_is_due(nullptr) ? -1 : real(from, to);
}
}

// LeakSanitizer calls a function of this name: minizip does not free an entry whose first write
// fails.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libminizip\n";
}
