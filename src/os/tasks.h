// One pool of threads for everything that runs at the same time: readers, ranks, writers, plots.
// Tasks belong to groups. A thread that waits for a group works only on it and on groups that its
// tasks made: nested groups cannot deadlock, and a task that waits for its turn never runs on the
// stack of the task whose turn it is.
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

/// No pool has more threads.
inline constexpr unsigned kMaxThreads = 1024;

/// Returns the threads for -j 0: the processors that this process may run on, at least 1.
[[nodiscard]] unsigned default_threads();

/// Returns the threads for -j: 0 = default_threads(), other values up to eight times the processors
/// (at least 64), beyond which threads only cost memory.
[[nodiscard]] unsigned sensible_threads(unsigned jobs);

/// Returns the exception as an Error (std::bad_alloc: kUnreadable, else kInternal), in a catch
/// block. Works without free memory.
[[nodiscard]] Error error_of_current_exception() noexcept;

/// Shows that work is no longer needed. Copies are the same token; a child is also cancelled with
/// its parent. Thread-safe.
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

/// Has threads - 1 workers: the thread that waits is the last one. There are fewer if the system
/// allows fewer threads. Must outlive its groups.
class TaskPool : NonCopyable {
public:
  explicit TaskPool(unsigned threads);
  ~TaskPool();

  /// Returns the threads that can work at the same time, with the one that waits; at least 1.
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

  std::mutex mutex_; ///< of the queue and of the counters of every group
  std::condition_variable wake_;
  std::deque<Task> queue_;
  std::vector<std::thread> workers_;
  std::atomic<unsigned> idle_{0};
  bool stop_ = false;
};

/// Tasks that are waited for together. Used from one thread at a time; its tasks may make further
/// groups in the same pool.
class TaskGroup : NonCopyable {
public:
  /// Without a pool (nullptr) each task runs at once, in run().
  explicit TaskGroup(TaskPool* pool, const CancelToken& token = {});
  ~TaskGroup(); ///< cancels and waits

  /// Queues a task. An exception in it cancels the group and is returned by wait().
  void run(std::function<void()> body);
  /// Runs it at once on this thread, as a task of this group.
  void run_here(const std::function<void()>& body) { run_body(body); }
  /// Runs a task of this group that has not started, on this thread; false if all have started.
  bool help();
  /// Waits until every task has ended; the calling thread works meanwhile. Returns the first Error
  /// of a task.
  Result<void> wait();
  /// Drops tasks that have not started; those that run may check the token.
  void cancel() { token_.cancel(); }
  [[nodiscard]] const CancelToken& token() const { return token_; }

private:
  friend class TaskPool;
  void run_body(const std::function<void()>& body);
  /// Returns whether this is `other` or was made, at any depth, by one of its tasks.
  [[nodiscard]] bool within(const TaskGroup& other) const;
  template <class Wanted> bool help(std::unique_lock<std::mutex>& lock, const Wanted& wanted);
  void ended();

  TaskPool* pool_;
  TaskGroup* parent_; ///< the group whose task made this one; outlives it
  CancelToken token_;
  std::condition_variable done_; ///< all ended, or there is something to work on
  std::size_t open_ = 0;         ///< queued or running, under the pool's mutex
  bool sleeps_ = false;          ///< a thread waits and has nothing to do
  std::mutex error_mutex_;
  std::optional<Error> error_;
};

/// Does the same as below with new threads, for callers that have no pool.
Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body);

/// Runs body(i) for i in [0, count) on this thread and the pool's, started in the order of i; at
/// most `most` at a time (0 = as many as there are threads).
Result<void> parallel_for(TaskPool* pool, std::size_t count,
                          const std::function<void(std::size_t)>& body, std::size_t most = 0);

} // namespace rankscope
