// Tests that the shared results of a trace are used by one thread at a time.
#include "core/loaded_trace.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace rankscope {
namespace {

struct InnerKey {
  using Value = int;
  auto operator<=>(const InnerKey&) const = default;
};
struct OuterKey {
  using Value = int;
  auto operator<=>(const OuterKey&) const = default;
};
struct TwoThreadsKey {
  using Value = bool;
  auto operator<=>(const TwoThreadsKey&) const = default;
};

int compute(const LoadedTrace& /*trace*/, const InnerKey& /*key*/) {
  return 1;
}
int compute(const LoadedTrace& trace, const OuterKey& /*key*/) {
  return trace.shared(InnerKey{}) + 1;
}

/// Returns whether another thread cannot get a result during this computation.
bool compute(const LoadedTrace& trace, const TwoThreadsKey& /*key*/) {
  bool refused = false;
  std::thread([&] {
    try {
      (void)trace.shared(InnerKey{});
    } catch (const std::logic_error&) {
      refused = true;
    }
  }).join();
  return refused && trace.shared(OuterKey{}) == 2;
}

TEST(SharedFacts, AreForOneThreadAtATime) {
  const LoadedTrace trace;
  EXPECT_TRUE(trace.shared(TwoThreadsKey{}));
  int later = 0;
  std::thread([&] { later = trace.shared(OuterKey{}); }).join();
  EXPECT_EQ(later, 2);
}

} // namespace
} // namespace rankscope
