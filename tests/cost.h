// Checks that CPU time grows almost linearly: compares the CPU times for n, 2n and 4n. The measured
// work is deterministic, so a wide limit separates n log n from n^2 on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <malloc.h>

namespace rankscope::test {

/// Returns the CPU time of this thread in seconds, the minimum of three runs. The allocator keeps
/// freed memory, so only the first run has the page faults, whatever the size of the work.
template <class Work> double cpu_seconds(const Work& work) {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    timespec begin = {};
    timespec end = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    work();
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    least = std::min(least, static_cast<double>(end.tv_sec - begin.tv_sec) +
                                static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9);
  }
  return least;
}

/// Fails if the time of work(n), work(2n) and work(4n) grows much faster than n. For 2n and 4n,
/// quadratic work takes 4 and 16 times as long, linear work 2 and 4 times. kSlack is for work that
/// is too short to measure. A busy machine can disturb one round, but rarely all three.
template <class Work> void expect_near_linear(std::size_t n, const Work& work) {
  constexpr double kSlack = 0.005;
  constexpr int kRounds = 3;
  double single = 0, twice = 0, fourfold = 0;
  for (int round = 0; round < kRounds; ++round) {
    single = cpu_seconds([&] { work(n); });
    twice = cpu_seconds([&] { work(2 * n); });
    fourfold = cpu_seconds([&] { work(4 * n); });
    if (twice < 3.2 * single + kSlack && fourfold < 8 * single + kSlack)
      return;
  }
  EXPECT_LT(twice, 3.2 * single + kSlack) << "n " << single << " s, 2n " << twice << " s";
  EXPECT_LT(fourfold, 8 * single + kSlack) << "n " << single << " s, 4n " << fourfold << " s";
}

} // namespace rankscope::test
