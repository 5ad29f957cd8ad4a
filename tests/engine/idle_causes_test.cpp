// Tests the causes of idle GPU time with hand-calculated values, and that the causes add up to the
// idle_time of gpu_timeline.
#include "analyses/timeline/idle_causes.h"

#include "analyses/timeline/gpu_timeline.h"
#include "trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

std::int64_t idle_ns_of(const IdleTime& idle, IdleCause cause) {
  return idle.ns[static_cast<std::size_t>(cause)];
}

std::int64_t gaps(const IdleTime& idle, IdleCause cause) {
  return idle.gaps[static_cast<std::size_t>(cause)];
}

std::int64_t timeline_idle(const LoadedTrace& t, const ReportOptions& options) {
  for (const TimelineRow& row : t.shared(TimelineKey{options}))
    if (row.kind == TimeKind::kIdle)
      return static_cast<std::int64_t>(row.time_ns);
  return -1;
}

/// As in the example of the header: a copy call that blocks the calling thread. The GPU works from
/// 0 to 10, the call runs from 5 to 12, and the next launch at 20 starts at 24.
TEST(IdleCauses, EachGapByWhatCameBefore) {
  test::TraceBuilder b;
  b.kernel("a", 0, 2, 8);    // from 2 to 10
  b.copy("unused", 3, 4, 1); // hipMemcpyAsync does not block
  b.kernel("b", 20, 24, 6);  // host 10 to 20, launch 20 to 24
  b.kernel("c", 25, 33, 7);  // launched at 25 while b ran: queued from 30 to 33
  b.kernel("d", 47, 48, 2);  // host 40 to 47, launch 47 to 48
  const LoadedTrace t = b.load();
  const IdleTime& idle = t.shared(IdleKey{});
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kHost), 17'000);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kLaunch), 5'000);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kQueued), 3'000);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kSynchronisation), 0);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kUnknown), 0);
  EXPECT_EQ(gaps(idle, IdleCause::kHost), 2);
  EXPECT_EQ(gaps(idle, IdleCause::kQueued), 1);
  EXPECT_EQ(gaps(idle, IdleCause::kLaunch), 0);
  const auto longest = [&idle](IdleCause cause) {
    const Interval& at = idle.longest[static_cast<std::size_t>(cause)];
    return std::pair(at.start, at.end);
  };
  EXPECT_EQ(longest(IdleCause::kHost), std::pair(std::int64_t{10'000}, std::int64_t{20'000}));
  EXPECT_EQ(longest(IdleCause::kLaunch), std::pair(std::int64_t{20'000}, std::int64_t{24'000}));
  EXPECT_EQ(longest(IdleCause::kQueued), std::pair(std::int64_t{30'000}, std::int64_t{33'000}));
  EXPECT_EQ(longest(IdleCause::kUnknown), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(idle.total_ns(), timeline_idle(t, {}));
  const std::vector<IdlePart> parts = idle_parts_of(t, {});
  ASSERT_EQ(parts.size(), 5U); // 10 to 20, 20 to 24, 30 to 33, 40 to 47, 47 to 48
  EXPECT_EQ(parts[0].end_ns - parts[0].start_ns, 10'000);
  EXPECT_EQ(parts[0].cause, IdleCause::kHost);
  EXPECT_EQ(parts[1].start_ns, parts[0].end_ns);
  EXPECT_EQ(parts[1].cause, IdleCause::kLaunch);
  EXPECT_EQ(parts[2].cause, IdleCause::kQueued);
  EXPECT_EQ(parts[4].end_ns - parts[4].start_ns, 1'000);
}

TEST(IdleCauses, TheHostHadWaited) {
  const std::string head = R"({"schemaVersion":1,"traceEvents":[)";
  const auto runtime = [](const char* name, int ts, int dur, int id) {
    return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":1,"tid":1,"ts":{},)"
                       R"("dur":{},"args":{{"correlation":{}}}}},)",
                       name, ts, dur, id);
  };
  const auto kernel = [](int ts, int dur, int id) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},)"
                       R"("args":{{"device":0,"stream":7,"correlation":{}}}}})",
                       ts, dur, id);
  };
  const test::TempFolder folder;
  const std::string text =
      head + runtime("hipLaunchKernel", 0, 1, 1) + runtime("hipStreamSynchronize", 5, 7, 2) +
      runtime("hipLaunchKernel", 20, 1, 3) + kernel(2, 8, 1) + "," + kernel(24, 6, 3) + "]}";
  const auto t = load_trace(folder.write("t.json", text), {});
  ASSERT_TRUE(t) << t.error().message();
  const IdleTime& idle = t->shared(IdleKey{});
  // ST no. 1: the call covers 2 us of the gap; earlier, the other 8 us were also attributed to it
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kSynchronisation), 2'000);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kLaunch), 4'000);
  EXPECT_EQ(idle_ns_of(idle, IdleCause::kHost), 8'000);
  EXPECT_EQ(gaps(idle, IdleCause::kHost), 1);
  EXPECT_EQ(gaps(idle, IdleCause::kSynchronisation), 0);
  EXPECT_EQ(idle.total_ns(), timeline_idle(*t, {}));
}

// ST-C6: a call that blocks another thread is not a cause of this gap.
TEST(IdleCauses, OnlyBlockingCallsOfTheLaunchingThreadCount) {
  test::TraceBuilder b;
  b.kernel("a", 0, 2, 8, 7, 2);         // launched by thread 2
  b.kernel("b", 40, 41, 6, 7, 2);       // idle from 10 to 41
  b.call("hipEventSynchronize", 5, 34); // on thread 1
  const LoadedTrace other = b.load();
  EXPECT_EQ(idle_ns_of(other.shared(IdleKey{}), IdleCause::kSynchronisation), 0);
  EXPECT_EQ(idle_ns_of(other.shared(IdleKey{}), IdleCause::kHost), 30'000);
  test::TraceBuilder same;
  same.kernel("a", 0, 2, 8).call("hipEventSynchronize", 5, 34).kernel("b", 40, 41, 6);
  const LoadedTrace launching = same.load();
  EXPECT_EQ(idle_ns_of(launching.shared(IdleKey{}), IdleCause::kSynchronisation), 29'000);
  EXPECT_EQ(gaps(launching.shared(IdleKey{}), IdleCause::kSynchronisation), 1);
  EXPECT_EQ(idle_ns_of(launching.shared(IdleKey{}), IdleCause::kHost), 1'000);
}

TEST(IdleCauses, AddUpToIdleTimeWhateverTheTrace) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    test::TraceBuilder b;
    for (unsigned i = 0; i < 2 + random() % 40; ++i) {
      const auto call = static_cast<double>(random() % 500);
      // some kernels start before their launch, because clocks of CPU and GPU differ
      const double ts = call + static_cast<double>(random() % 40) - 3;
      b.kernel("k" + std::to_string(random() % 3), call, ts, static_cast<double>(random() % 30),
               7 + static_cast<int>(random() % 3));
    }
    const LoadedTrace t = b.load();
    for (const bool unlinked : {false, true}) {
      ReportOptions options;
      options.include_unlinked_kernels = unlinked;
      EXPECT_EQ(t.shared(IdleKey{options}).total_ns(), timeline_idle(t, options)) << round;
      std::int64_t in_parts = 0;
      for (const IdlePart& part : idle_parts_of(t, options))
        in_parts += part.end_ns - part.start_ns;
      EXPECT_EQ(in_parts, timeline_idle(t, options)) << round;
    }
  }
}

} // namespace
} // namespace rankscope
