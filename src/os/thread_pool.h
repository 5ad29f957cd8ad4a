// parallel_for and a bounded task pool. Exceptions inside a task become an Error.
#pragma once

#include "base/result.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace rankscope {

/// Number of threads for -j 0: the processors this process may run on, at least 1.
[[nodiscard]] unsigned default_threads();

/// In a catch block: the exception as an Error (std::bad_alloc: kUnreadable, else kInternal).
[[nodiscard]] Error error_of_current_exception();

/// Fixed workers, one queue. submit() blocks while `max_queued` tasks wait. wait() returns the
/// first Error any task raised (std::bad_alloc and other exceptions are turned into one).
class ThreadPool {
public:
  explicit ThreadPool(unsigned threads, std::size_t max_queued = 1024);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void submit(std::function<void()> task);
  Result<void> wait();
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(workers_.size()); }

private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::condition_variable room_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> workers_;
  std::optional<Error> first_error_;
  std::size_t max_queued_;
  std::size_t running_ = 0;
  bool stop_ = false;
};

/// Runs body(i) for i in [0, count) on up to `threads` threads (the caller is one of them).
Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body);

} // namespace rankscope
