#include "os/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <sched.h>

namespace rankscope {

Error error_of_current_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kUnreadable, "", "out of memory", "lower -j or the --memory limit"};
  } catch (const std::exception& e) {
    return {ErrorCode::kInternal, "", std::string("internal error, please report: ") + e.what(),
            ""};
  }
}

unsigned default_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(unsigned threads, std::size_t max_queued) : max_queued_(max_queued) {
  for (unsigned i = 0; i < std::max(1U, threads); ++i)
    workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : workers_)
    t.join();
}

void ThreadPool::submit(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return queue_.size() < max_queued_; });
  queue_.push_back(std::move(task));
  lock.unlock();
  wake_.notify_one();
}

Result<void> ThreadPool::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return queue_.empty() && running_ == 0; });
  if (first_error_) {
    Error e = *first_error_;
    first_error_.reset();
    return e;
  }
  return {};
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty())
      return;
    auto task = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    room_.notify_one();
    std::optional<Error> error;
    try {
      task();
    } catch (...) {
      error = error_of_current_exception();
    }
    task = nullptr; // captured data is released before the task counts as done
    lock.lock();
    --running_;
    if (error && !first_error_)
      first_error_ = std::move(error);
    if (queue_.empty() && running_ == 0)
      idle_.notify_all();
  }
}

Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body) {
  if (count == 0)
    return {};
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::optional<Error> first;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        Error e = error_of_current_exception();
        const std::lock_guard lock(mutex);
        if (!first)
          first = std::move(e);
        next = count;
      }
    }
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t)
    others.emplace_back(run);
  run();
  for (std::thread& t : others)
    t.join();
  if (first)
    return std::move(*first);
  return {};
}

} // namespace rankscope
