// One pool of threads for all parallel work: readers, ranks, writers, plots. Tasks belong to
// groups. A thread that waits for a group only runs tasks of this group, and of groups that its
// tasks created. So nested groups cannot deadlock: a waiting thread never runs an unrelated task,
// which could itself wait for that thread.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace rankscope {

/// The maximum number of threads in a pool.
inline constexpr unsigned kMaxThreads = 1024;

/// Returns the number of threads for -j 0: the number of processors that this process may use, at
/// least 1.
[[nodiscard]] unsigned default_threads();

/// Returns the number of threads for -j `jobs`. 0 = default_threads(); other values are limited to
/// eight times the number of processors (at least 64), because more threads only use memory.
[[nodiscard]] unsigned sensible_threads(unsigned jobs);

/// Returns the current exception as an Error (std::bad_alloc: kUnreadable, others: kInternal). Call
/// it in a catch block. It works even if no memory is free.
[[nodiscard]] Error error_of_current_exception() noexcept;

/// Signals that work is no longer needed. Copies share the same state. Cancelling a token also
/// cancels its children. Thread-safe.
class CancelToken {
public:
  CancelToken() : state_(std::make_shared<State>()) {}
  [[nodiscard]] CancelToken child() const;
  void cancel() const { state_->cancelled.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const;

private:
  struct State {
    std::atomic<bool> cancelled{false};
    std::shared_ptr<const State> parent;
  };
  std::shared_ptr<State> state_;
};

class TaskGroup;

/// A pool with `threads` - 1 workers, because the waiting thread works too. If the system does not
/// allow that many threads, there are fewer workers. The pool must outlive its groups.
class TaskPool : NonCopyable {
public:
  explicit TaskPool(unsigned threads);
  ~TaskPool();

  /// Returns the number of threads that can work at the same time, including the thread that waits;
  /// at least 1.
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  /// Returns whether a worker is waiting for a task now.
  [[nodiscard]] bool idle() const { return idle_.load(std::memory_order_relaxed) > 0; }

private:
  friend class TaskGroup;
  struct Task {
    TaskGroup* group;
    std::function<void()> body;
  };
  void work();

  std::mutex mutex_; ///< protects the queue and the counters of every group
  std::condition_variable wake_;
  std::deque<Task> queue_;
  std::vector<std::thread> workers_;
  std::atomic<unsigned> idle_{0};
  bool stop_ = false;
};

/// A group of tasks to wait for. Only one thread at a time may use the group. Its tasks may create
/// more groups in the same pool.
class TaskGroup : NonCopyable {
public:
  /// Creates a group in `pool`. Without a pool (nullptr), run() runs each task at once.
  explicit TaskGroup(TaskPool* pool, const CancelToken& token = {});
  ~TaskGroup(); ///< cancels and waits

  /// Queues a task. If it throws an exception, the group is cancelled and wait() returns the
  /// exception as an Error.
  void run(std::function<void()> body);
  /// Runs `body` as a task of this group, immediately and on this thread.
  void run_here(const std::function<void()>& body) { run_body(body); }
  /// Runs on this thread a task of this group that has not started. Returns false if all have
  /// started.
  bool help();
  /// Waits until every task has ended; meanwhile the calling thread runs tasks. Returns the first
  /// Error of a task.
  Result<void> wait();
  /// Removes tasks that have not started. Running tasks may check the token.
  void cancel() { token_.cancel(); }
  [[nodiscard]] const CancelToken& token() const { return token_; }

private:
  friend class TaskPool;
  void run_body(const std::function<void()>& body);
  /// Returns whether this group is `other`, or a task of `other` created it (at any depth).
  [[nodiscard]] bool within(const TaskGroup& other) const;
  template <class Wanted> bool help(std::unique_lock<std::mutex>& lock, const Wanted& wanted);
  void ended();

  TaskPool* pool_;
  TaskGroup* parent_; ///< the group whose task created this one, or nullptr; it outlives this group
  CancelToken token_;
  std::condition_variable done_; ///< all tasks have ended, or a task is available
  std::size_t open_ = 0;         ///< queued or running tasks; protected by the pool's mutex
  bool sleeps_ = false;          ///< a thread waits for this group and has no task to run
  std::mutex error_mutex_;
  std::optional<Error> error_;
};

/// Runs body(i) like the function below, but on new threads, for callers without a pool.
Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body);

/// Runs body(i) for i in [0, count) on this thread and the pool's threads; the calls start in
/// ascending order. At most `most` calls run at the same time (0 = one per thread).
Result<void> parallel_for(TaskPool* pool, std::size_t count,
                          const std::function<void(std::size_t)>& body, std::size_t most = 0);

} // namespace rankscope
