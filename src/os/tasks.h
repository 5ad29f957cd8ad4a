// One pool of threads for everything that runs at the same time: readers, ranks, writers, plots.
// Tasks belong to groups; who waits for a group works on it and on the groups that its tasks made,
// and on nothing else: groups in groups cannot deadlock, and a task that waits for its turn never
// lies on the stack of the one whose turn it is.
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

/// Number of threads for -j 0: the processors this process may run on, at least 1.
[[nodiscard]] unsigned default_threads();

/// What -j means: 0 = default_threads(), others as they are up to eight times the processors (at
/// least 64), beyond which threads only cost memory.
[[nodiscard]] unsigned sensible_threads(unsigned jobs);

/// In a catch block: the exception as an Error (std::bad_alloc: kUnreadable, else kInternal). Also
/// without any memory.
[[nodiscard]] Error error_of_current_exception() noexcept;

/// Says that work is no longer wanted. Copies are the same token; one made with a parent is
/// cancelled with it too. Thread-safe.
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

/// threads - 1 workers: the thread that waits is the last one. Where the system gives fewer
/// threads, there are fewer. Must outlive its groups.
class TaskPool : NonCopyable {
public:
  explicit TaskPool(unsigned threads);
  ~TaskPool();

  /// Threads that can work at a time, with the one that waits; at least 1.
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  /// Whether a task given now would find a worker waiting for it.
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

/// Tasks that are waited for together. Used from one thread at a time, its tasks may make groups of
/// their own in the same pool.
class TaskGroup : NonCopyable {
public:
  /// Without a pool (nullptr) each task runs at once, in run().
  explicit TaskGroup(TaskPool* pool, const CancelToken& token = {});
  ~TaskGroup(); ///< cancels and waits

  /// Queues a task. An exception in it cancels the group and is what wait() returns.
  void run(std::function<void()> body);
  /// Runs it at once on this thread, as a task of this group.
  void run_here(const std::function<void()>& body) { run_body(body); }
  /// Begins one task of this group that nobody has begun, on this thread; false when there is none.
  bool help();
  /// Until every task has ended; the calling thread works meanwhile. Returns the first Error of a
  /// task.
  Result<void> wait();
  /// Tasks not yet begun are dropped; those that run may look at the token.
  void cancel() { token_.cancel(); }
  [[nodiscard]] const CancelToken& token() const { return token_; }

private:
  friend class TaskPool;
  void run_body(const std::function<void()>& body);
  /// Whether this is `other` or was made, at whatever depth, by one of its tasks.
  [[nodiscard]] bool within(const TaskGroup& other) const;
  template <class Wanted> bool help(std::unique_lock<std::mutex>& lock, const Wanted& wanted);
  void ended();

  TaskPool* pool_;
  TaskGroup* parent_; ///< whose task made this group; it outlives it
  CancelToken token_;
  std::condition_variable done_; ///< all ended, or there is something to work on
  std::size_t open_ = 0;         ///< queued or running, under the pool's mutex
  bool sleeps_ = false;          ///< somebody waits and has nothing to do
  std::mutex error_mutex_;
  std::optional<Error> error_;
};

/// As below with threads of its own, for callers that have no pool.
Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body);

/// Runs body(i) for i in [0, count) on this thread and the pool's, begun in the order of i; at most
/// `most` at a time (0 = as many as there are threads).
Result<void> parallel_for(TaskPool* pool, std::size_t count,
                          const std::function<void(std::size_t)>& body, std::size_t most = 0);

} // namespace rankscope
