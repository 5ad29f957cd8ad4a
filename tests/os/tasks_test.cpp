// Tests the thread pool: nested groups, errors, cancellation, and systems that cannot start
// threads.
#include "os/tasks.h"
#include "sanitized.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankscope {
namespace {

TEST(Tasks, EveryTaskRunsOnce) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    TaskPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<std::atomic<int>> runs(1000);
    TaskGroup group(&pool);
    for (auto& run : runs)
      group.run([&run] { ++run; });
    ASSERT_TRUE(group.wait());
    for (const auto& run : runs)
      EXPECT_EQ(run, 1);
    group.run([&runs] { ++runs[0]; }); // a group can be used again
    ASSERT_TRUE(group.wait());
    EXPECT_EQ(runs[0], 2);
  }
}

TEST(Tasks, GroupsInGroupsDoNotWaitForEver) {
  for (const unsigned threads : {1U, 2U, 3U}) { // fewer threads than waiting groups
    TaskPool pool(threads);
    std::atomic<int> leaves{0};
    TaskGroup outer(&pool);
    for (int i = 0; i < 8; ++i)
      outer.run([&] {
        TaskGroup middle(&pool);
        for (int j = 0; j < 4; ++j)
          middle.run([&] {
            TaskGroup inner(&pool);
            for (int k = 0; k < 4; ++k)
              inner.run([&] { ++leaves; });
            EXPECT_TRUE(inner.wait());
          });
        EXPECT_TRUE(middle.wait());
      });
    ASSERT_TRUE(outer.wait());
    EXPECT_EQ(leaves, 128);
  }
}

TEST(Tasks, WhoWaitsWorksOnlyForItsOwnGroup) {
  // a task that waits for its turn must never be on the stack of the task whose turn it is
  TaskPool pool(2);
  std::mutex mutex;
  std::condition_variable moved;
  int turn = 0;
  ASSERT_TRUE(parallel_for(&pool, 50, [&](std::size_t i) {
    TaskGroup group(&pool);
    for (int k = 0; k < 5; ++k)
      group.run([] { std::this_thread::yield(); });
    EXPECT_TRUE(group.wait());
    std::unique_lock lock(mutex);
    moved.wait(lock, [&] { return turn == static_cast<int>(i); });
    ++turn;
    moved.notify_all();
  }));
  EXPECT_EQ(turn, 50);
}

TEST(Tasks, WhoWaitsHelpsTheGroupsBelow) {
  // two threads: one runs the outer task, whose inner tasks need both threads at the same time
  TaskPool pool(2);
  std::mutex mutex;
  std::condition_variable met;
  int here = 0;
  TaskGroup outer(&pool);
  outer.run([&] {
    // so that the other thread waits now
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TaskGroup inner(&pool);
    for (int i = 0; i < 2; ++i)
      inner.run([&] {
        std::unique_lock lock(mutex);
        ++here;
        met.notify_all();
        EXPECT_TRUE(met.wait_for(lock, std::chrono::seconds(20), [&] { return here == 2; }));
      });
    EXPECT_TRUE(inner.wait());
  });
  EXPECT_TRUE(outer.wait());
  EXPECT_EQ(here, 2);
}

TEST(Tasks, AnExceptionIsTheGroupsErrorAndTheRestIsDropped) {
  TaskPool pool(2);
  TaskGroup group(&pool);
  std::atomic<int> ran{0};
  group.run([] { throw std::runtime_error("spilt"); });
  ASSERT_FALSE(group.wait());
  group.run([&] { ++ran; });
  EXPECT_TRUE(group.wait()); // the error is returned only once
  EXPECT_EQ(ran, 0);
  const Result<void> out_of_memory =
      parallel_for(&pool, 100, [](std::size_t) { throw std::bad_alloc(); });
  ASSERT_FALSE(out_of_memory);
  EXPECT_EQ(out_of_memory.error().code, ErrorCode::kUnreadable);
  EXPECT_FALSE(parallel_for(3, 2, [](std::size_t) { throw 1; }));
}

TEST(Tasks, CancelledTasksAreNotBegun) {
  TaskPool pool(4);
  const CancelToken all;
  TaskGroup group(&pool, all);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10'000; ++i)
    group.run([&] {
      if (++ran == 10)
        all.cancel();
    });
  EXPECT_TRUE(group.wait());
  EXPECT_GE(ran, 10);
  EXPECT_LT(ran, 10'000);
  EXPECT_TRUE(group.token().cancelled());
  CancelToken parent;
  EXPECT_FALSE(parent.cancelled());
  const CancelToken child = parent.child();
  child.cancel();
  EXPECT_FALSE(parent.cancelled()); // cancels children, not parents
}

TEST(Tasks, ParallelForTakesItsBoundAndEveryIndex) {
  TaskPool pool(8);
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::vector<std::atomic<int>> seen(200);
  ASSERT_TRUE(parallel_for(
      &pool, seen.size(),
      [&](std::size_t i) {
        const int here = ++now;
        int before = most;
        while (here > before && !most.compare_exchange_weak(before, here))
          ;
        ++seen[i];
        --now;
      },
      3));
  EXPECT_LE(most, 3);
  for (const auto& s : seen)
    EXPECT_EQ(s, 1);
  ASSERT_TRUE(parallel_for(&pool, 0, [](std::size_t) { FAIL(); }));
  ASSERT_TRUE(parallel_for(nullptr, 1, [](std::size_t) {}));
}

TEST(Tasks, AbsurdNumbersOfThreadsAreBounded) {
  EXPECT_LE(sensible_threads(4'000'000'000U), kMaxThreads);
  EXPECT_EQ(sensible_threads(0), default_threads());
  EXPECT_EQ(sensible_threads(3), 3U);
}

/// Number of pages of address space.
rlim_t pages_in_use() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(Tasks, WithFewThreadsTheWorkIsDoneAllTheSame) {
  if (test::kSanitized)
    GTEST_SKIP() << "a sanitizer needs the address space, and no fork beside threads";
  // in a child process: the address space is too small for the stacks of so many threads
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // the current size plus 32 MiB: with less, even a list of the pool might not fit
    const rlim_t little =
        pages_in_use() * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (32U << 20U);
    const rlimit limit{little, little};
    ::setrlimit(RLIMIT_AS, &limit);
    std::atomic<int> sum{0};
    TaskPool pool(500);
    if (pool.threads() >= 500)
      ::_exit(2);
    if (!parallel_for(&pool, 10, [&sum](std::size_t) { ++sum; }))
      ::_exit(3);
    ::_exit(sum == 10 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace rankscope
