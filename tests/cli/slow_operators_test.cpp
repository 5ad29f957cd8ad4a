// A rank whose host takes longer in some operators, and as long as its peers in the others. The
// times of the run are calculated here, with and without the slow operators.
#include "job_answers.h"
#include "temp_folder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

constexpr std::size_t kRanks = 8;
constexpr int kSteps = 5, kLayers = 4, kSlowRank = 2;

/// A rank of a data-parallel run. Times in us.
struct DataParallelRank {
  std::string events;
  double host = 1000, compute = 0, reduce = 0; ///< ends of the work so far
  int calls = 0;
  double short_call_us = 0; ///< of three calls before each launch of an operator; 0: no such calls

  void add(const char* category, const std::string& name, int pid, int tid, double from, double us,
           const std::string& args) {
    events += fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},)"
                          R"("dur":{:.3f},"args":{{{}}}}},)",
                          category, name, pid, tid, from, us, args);
  }
  /// Adds an operator with the launch in it. Returns the earliest begin of the kernel.
  double launch(const char* name, double us) {
    for (int k = 0; k < 3 && short_call_us > 0; ++k) {
      add("cuda_runtime", "cudaStreamIsCapturing", 1, 1, host, short_call_us, "");
      host += 2 * short_call_us;
    }
    add("cpu_op", name, 1, 1, host, us, "");
    const double at = host + 0.3 * us;
    add("cuda_runtime", "cudaLaunchKernel", 1, 1, at, 4,
        fmt::format(R"("correlation":{})", ++calls));
    host += us;
    return at + 5;
  }
  void kernel(const char* name, double from, double us, const char* args = "") {
    add("kernel", name, 0, *args == '\0' ? 7 : 24, from, us,
        fmt::format(R"("device":0,"stream":{},"correlation":{}{})", *args == '\0' ? 7 : 24, calls,
                    args));
  }
  void operation(const char* name, double host_us, double gpu_us) {
    const double from = std::max(launch(name, host_us), compute + 0.5);
    kernel(name, from, gpu_us);
    compute = from + gpu_us;
  }
  void synchronize() {
    const double end = std::max(compute, reduce) + 2;
    add("cuda_runtime", "cudaDeviceSynchronize", 1, 1, host, end - host, "");
    host = compute = end;
  }
};

/// Writes the run. `slow_us`: time of two operators on the host of the slow rank; 10 on its peers.
/// `short_call_us`: of short calls, as much longer on the slow rank; 0: no such calls.
std::string write_data_parallel(const test::TempFolder& folder, double slow_us,
                                double short_call_us = 0) {
  std::array<DataParallelRank, kRanks> ranks;
  for (DataParallelRank& rank : ranks)
    rank.short_call_us = short_call_us;
  ranks[kSlowRank].short_call_us *= slow_us / 10;
  for (int step = 0; step < kSteps; ++step) {
    std::array<double, kRanks> begin{};
    for (std::size_t r = 0; r < kRanks; ++r)
      begin[r] = ranks[r].host;
    for (int layer = 0; layer < kLayers; ++layer) {
      std::array<double, kRanks> arrival{};
      double latest = 0;
      for (std::size_t r = 0; r < kRanks; ++r) {
        DataParallelRank& rank = ranks[r];
        const double host_us = r == kSlowRank ? slow_us : 10;
        const double noise = 0.1 * static_cast<double>((5 * r + 3 * step + 7 * layer) % 8);
        rank.operation("aten::mm", host_us, 300 + noise);
        rank.operation("aten::mul", host_us, 60);
        arrival[r] = std::max({rank.launch("c10d::allreduce_", 12), rank.compute, rank.reduce});
        latest = std::max(latest, arrival[r]);
      }
      for (std::size_t r = 0; r < kRanks; ++r) {
        ranks[r].reduce = latest + 150;
        ranks[r].kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", arrival[r],
                        ranks[r].reduce - arrival[r],
                        R"(,"Collective name":"allreduce","dtype":"BFloat16","Group size":8,)"
                        R"("Process Group Name":"0","Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, )"
                        R"(7]","In msg nelems":1048576,"Out msg nelems":1048576)");
      }
    }
    for (std::size_t r = 0; r < kRanks; ++r) {
      ranks[r].synchronize();
      ranks[r].add("user_annotation", fmt::format("ProfilerStep#{}", step), 1, 1, begin[r],
                   ranks[r].host - begin[r], "");
    }
  }
  const std::string name = fmt::format("run{}_{}", slow_us, short_call_us);
  for (std::size_t r = 0; r < kRanks; ++r)
    folder.write(
        fmt::format("{}/rank{}.json", name, r),
        fmt::format(R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},)"
                    R"("world_size":{}}},"traceEvents":[{}{{"ph":"M","name":"end"}}]}})",
                    r, kRanks, ranks[r].events));
  return folder.path(name);
}

TEST(SlowOperators, OfOneHostAreComparedWithThoseOfItsPeers) {
  const test::TempFolder folder;
  const double clean =
      test::JobAnswer("why", {write_data_parallel(folder, 10)}).number("why_run", 0, "step_ms");
  const std::string slow = write_data_parallel(folder, 400);
  const test::JobAnswer why("why", {slow});
  ASSERT_GT(why.number("why_run", 0, "step_ms"), 1.8 * clean);
  ASSERT_GT(why.rows("causes"), 0U) << why.out();
  EXPECT_EQ(why.text("causes", 0, "rule"), "slow-host") << why.out();
  EXPECT_EQ(why.text("causes", 0, "ranks"), "2");
  const test::JobAnswer answer("whatif", {slow, "--edit", "ranks=2 as median"});
  EXPECT_NEAR(answer.number("changes", 0, "after_ms"), clean, 0.02 * clean);
}

// Calls of more than 10 us are activities. On a slow host, they divide a host activity that is one
// on its peers.
TEST(SlowOperators, ShortCallsThatLastLongOnOneHostDoNotHideIt) {
  const test::TempFolder folder;
  const double clean = test::JobAnswer("why", {write_data_parallel(folder, 10, 2.5)})
                           .number("why_run", 0, "step_ms");
  const std::string slow = write_data_parallel(folder, 200, 2.5);
  const test::JobAnswer why("why", {slow});
  const double slow_ms = why.number("why_run", 0, "step_ms");
  ASSERT_GT(slow_ms, 1.5 * clean);
  ASSERT_GT(why.rows("causes"), 0U) << why.out();
  EXPECT_EQ(why.text("causes", 0, "rule"), "slow-host") << why.out();
  EXPECT_EQ(why.text("causes", 0, "ranks"), "2");
  EXPECT_NEAR(why.number("causes", 0, "gain_ms"), slow_ms - clean, 0.02 * clean) << why.out();
  const test::JobAnswer answer("whatif", {slow, "--edit", "ranks=2 as median"});
  EXPECT_NEAR(answer.number("changes", 0, "after_ms"), clean, 0.02 * clean);
}

} // namespace
} // namespace rankscope
