#include "os/tasks.h"

#include "os/condition_wait.h"

#include <algorithm>
#include <exception>
#include <new>
#include <sched.h>
#include <system_error>
#include <utility>

namespace rankscope {

namespace {

Error described_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kUnreadable, "", "out of memory", "lower -j or the --memory limit"};
  } catch (const std::exception& e) {
    return {ErrorCode::kInternal, "", std::string("internal error, please report: ") + e.what(),
            ""};
  } catch (...) {
    return {ErrorCode::kInternal, "", "internal error, please report", ""};
  }
}

} // namespace

Error error_of_current_exception() noexcept {
  try {
    return described_exception();
  } catch (...) { // no memory for the message either; these short texts need no allocation
    return {ErrorCode::kUnreadable, "", "out of memory", "lower -j"};
  }
}

unsigned default_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

unsigned sensible_threads(unsigned jobs) {
  const unsigned processors = default_threads();
  const unsigned most = std::min(kMaxThreads, std::max(64U, 8 * processors));
  return jobs == 0 ? processors : std::min(jobs, most);
}

// ---- cancelling --------------------------------------------------------------------------------

CancelToken CancelToken::child() const {
  CancelToken out;
  out.state_->parent = state_;
  return out;
}

bool CancelToken::cancelled() const {
  for (const State* at = state_.get(); at != nullptr; at = at->parent.get())
    if (at->cancelled.load(std::memory_order_relaxed))
      return true;
  return false;
}

// ---- pool --------------------------------------------------------------------------------------

TaskPool::TaskPool(unsigned threads) {
  const unsigned workers = std::min(std::max(threads, 1U), kMaxThreads) - 1;
  workers_.reserve(workers);
  for (unsigned i = 0; i < workers; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break; // a limit on processes or memory: continue with fewer threads
    } catch (const std::bad_alloc&) {
      break; // if rethrown, the threads that run already would not be joined
    }
  }
}

TaskPool::~TaskPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : workers_)
    t.join();
}

void TaskPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (queue_.empty()) {
      if (stop_)
        return;
      idle_.fetch_add(1, std::memory_order_relaxed);
      wait_on(wake_, lock, [this] { return stop_ || !queue_.empty(); });
      idle_.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task.group->run_body(task.body);
    task.body = nullptr; // release captured data before the task counts as ended
    lock.lock();
    task.group->ended();
  }
}

// ---- groups ------------------------------------------------------------------------------------

namespace {
thread_local TaskGroup* running = nullptr; ///< the group of the task that this thread runs
}

TaskGroup::TaskGroup(TaskPool* pool, const CancelToken& token)
    : pool_(pool), parent_(running), token_(token.child()) {}

TaskGroup::~TaskGroup() {
  cancel();
  (void)wait();
}

void TaskGroup::run_body(const std::function<void()>& body) {
  if (token_.cancelled())
    return;
  TaskGroup* const outer = std::exchange(running, this);
  try {
    body();
    running = outer;
  } catch (...) {
    running = outer;
    Error error = error_of_current_exception();
    cancel();
    const std::lock_guard lock(error_mutex_);
    if (!error_)
      error_ = std::move(error);
  }
}

void TaskGroup::ended() {
  if (--open_ == 0)
    done_.notify_all(); // notify while the mutex is locked: after it is unlocked, the group may no
                        // longer exist
}

bool TaskGroup::within(const TaskGroup& other) const {
  const TaskGroup* at = this;
  while (at != nullptr && at != &other)
    at = at->parent_;
  return at != nullptr;
}

void TaskGroup::run(std::function<void()> body) {
  if (pool_ == nullptr || pool_->workers_.empty())
    return run_body(body);
  {
    const std::lock_guard lock(pool_->mutex_);
    pool_->queue_.push_back({this, std::move(body)});
    ++open_;
    for (const TaskGroup* at = parent_; at != nullptr; at = at->parent_)
      if (at->pool_ == pool_ && at->sleeps_) {
        const_cast<TaskGroup*>(at)->done_.notify_all();
        break;
      }
  }
  pool_->wake_.notify_one();
}

template <class Wanted>
bool TaskGroup::help(std::unique_lock<std::mutex>& lock, const Wanted& wanted) {
  std::deque<TaskPool::Task>& queue = pool_->queue_;
  const auto found = std::find_if(queue.begin(), queue.end(),
                                  [&](const TaskPool::Task& t) { return wanted(*t.group); });
  if (found == queue.end())
    return false;
  TaskPool::Task task = std::move(*found);
  queue.erase(found);
  lock.unlock();
  task.group->run_body(task.body);
  task.body = nullptr;
  lock.lock();
  task.group->ended();
  return true;
}

bool TaskGroup::help() {
  if (pool_ == nullptr)
    return false;
  std::unique_lock lock(pool_->mutex_);
  return help(lock, [this](const TaskGroup& group) { return &group == this; });
}

Result<void> TaskGroup::wait() {
  if (pool_ != nullptr) {
    std::unique_lock lock(pool_->mutex_);
    while (open_ > 0) {
      if (help(lock, [this](const TaskGroup& group) { return group.within(*this); }))
        continue;
      sleeps_ = true;
      pool_->idle_.fetch_add(1, std::memory_order_relaxed);
      wait_on(done_, lock);
      pool_->idle_.fetch_sub(1, std::memory_order_relaxed);
      sleeps_ = false;
    }
  }
  const std::lock_guard lock(error_mutex_);
  if (error_) {
    Error error = std::move(*error_);
    error_.reset();
    return error;
  }
  return {};
}

Result<void> parallel_for(TaskPool* pool, std::size_t count,
                          const std::function<void(std::size_t)>& body, std::size_t most) {
  std::size_t width = pool != nullptr ? pool->threads() : 1;
  if (most > 0)
    width = std::min(width, most);
  width = std::min(width, count);
  std::atomic<std::size_t> next{0};
  TaskGroup group(pool);
  const auto work = [&] {
    while (!group.token().cancelled()) {
      const std::size_t i = next++;
      if (i >= count)
        return;
      body(i);
    }
  };
  for (std::size_t w = 1; w < width; ++w)
    group.run(work);
  group.run_here(work);
  return group.wait();
}

Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<void(std::size_t)>& body) {
  TaskPool pool(static_cast<unsigned>(std::min<std::size_t>(threads, count)));
  return parallel_for(&pool, count, body);
}

} // namespace rankscope
