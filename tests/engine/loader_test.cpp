// Tests the loader: the ranks of a plan, also if one file has several ranks.
#include "engine/loader.h"
#include "temp_folder.h"
#include "toy_reader.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

namespace rankscope {
namespace {

TEST(Loader, TwoRanksOfOneFile) {
  const test::TempFolder folder;
  folder.write("node.toy", test::kTwoToyRanks);
  const std::array<const Reader*, 2> known = {&kineto_json_reader, &toy_reader};
  DiscoverOptions discover;
  discover.known = known;
  Diagnostics diag;
  const Result<RunPlan> plan = discover_run({folder.path()}, discover, diag);
  ASSERT_TRUE(plan) << plan.error().message();
  LoadOptions options;
  options.known = known;
  options.threads = 2;
  std::mutex mutex;
  std::map<std::int64_t, std::size_t> kernels;
  const Result<void> loaded =
      load_each(plan->ranks, options, [&](std::size_t i, Result<LoadedTrace> trace) {
        const std::lock_guard lock(mutex);
        ASSERT_TRUE(trace) << trace.error().message();
        EXPECT_EQ(trace->rank, plan->ranks[i].rank);
        EXPECT_EQ(trace->trace.header.rank, trace->rank);
        kernels[trace->rank] = trace->tree.gpu_event_count();
      });
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(kernels, (std::map<std::int64_t, std::size_t>{{0, 1}, {1, 2}}));
}

} // namespace
} // namespace rankscope
