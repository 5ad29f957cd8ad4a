/// Waits on a condition variable without std::condition_variable::wait. GCC 12 gave that function a
/// new symbol version (GLIBCXX_3.4.30), which the C++ library of GCC 11 lacks; the release must run
/// with that library.
#pragma once

#include <condition_variable>
#include <mutex>
#include <pthread.h>

namespace rankscope {

/// Waits for a notification; spurious wake-ups are possible.
inline void wait_on(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}

/// Waits until `ready()` returns true. The caller's lock is locked while `ready` runs.
template <typename Ready>
void wait_on(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, Ready ready) {
  while (!ready())
    wait_on(condition, lock);
}

} // namespace rankscope
