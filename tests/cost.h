// Whether work grows as it should: CPU time of n, 2n and 4n. Deterministic work, so that a bound
// with room to spare tells n log n from n squared on any machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <malloc.h>

namespace rankscope::test {

/// CPU time of this thread in seconds, the least of three runs. Memory stays with the process, so
/// that only the first run pays for its pages, whatever their size.
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

/// work(n) does the work of size n. Quadratic work takes 4 times as long for twice the size and 16
/// times for four times; linear work 2 and 4. The slack is for what is too quick to measure. On a
/// busy machine one measurement can be off, three seldom are.
template <class Work> void expect_near_linear(std::size_t n, const Work& work) {
  constexpr double kSlack = 0.005;
  constexpr int kRounds = 3;
  double one = 0, two = 0, four = 0;
  for (int round = 0; round < kRounds; ++round) {
    one = cpu_seconds([&] { work(n); });
    two = cpu_seconds([&] { work(2 * n); });
    four = cpu_seconds([&] { work(4 * n); });
    if (two < 3.2 * one + kSlack && four < 8 * one + kSlack)
      return;
  }
  EXPECT_LT(two, 3.2 * one + kSlack) << "n " << one << " s, 2n " << two << " s";
  EXPECT_LT(four, 8 * one + kSlack) << "n " << one << " s, 4n " << four << " s";
}

} // namespace rankscope::test
