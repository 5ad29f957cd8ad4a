// Tests that a second command with the same ranks reads no trace.
#include "app/collectives.h"
#include "app/compare_load.h"
#include "app/page.h"
#include "app/partial.h"
#include "app/top.h"
#include "engine/fact_cache.h"
#include "settle.h"
#include "small_sweep.h"
#include "temp_folder.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns the number of bytes that this process has read so far.
std::uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

class CachedFactsOfCommands : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.layers = 24;
    o.steps = 8;
    ASSERT_TRUE(synth::generate(o, sweep_, 1, {}));
    test::settle();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run_))
      if (entry.is_regular_file())
        trace_bytes_ += entry.file_size();
    ASSERT_GT(trace_bytes_, 2'000'000U); // much more than the bytes that identify a trace
  }

  /// Returns the number of bytes that `command` reads the first and the second time.
  template <class Command> std::pair<std::uint64_t, std::uint64_t> read_by(const Command& command) {
    std::array<std::uint64_t, 2> out = {};
    const auto cache = std::make_shared<FactCache>(folder_.path("cache"));
    cache->clear();
    for (std::uint64_t& bytes : out) {
      Session session;
      session.cache = cache;
      const std::uint64_t before = bytes_read();
      EXPECT_TRUE(command(session));
      bytes = bytes_read() - before;
    }
    return {out[0], out[1]};
  }
  template <class Command> void expect_no_trace_read(const Command& command) {
    const auto [first, second] = read_by(command);
    EXPECT_GT(first, trace_bytes_);
    EXPECT_LT(second, trace_bytes_ / 4);
  }

  test::TempFolder folder_;
  std::string sweep_ = folder_.path("sweep");
  std::string run_ = test::config_folder(sweep_);
  std::uint64_t trace_bytes_ = 0;
};

TEST_F(CachedFactsOfCommands, ReadNoTraceTheSecondTime) {
  const auto top = [&](Session& session) {
    TopRequest request;
    request.inputs = {run_};
    return static_cast<bool>(top_of(session, request));
  };
  const auto collectives = [&](Session& session) {
    CollectivesRequest request;
    request.inputs = {run_};
    const Result<RunPlan> plan = plan_collectives(session, request);
    return plan && collect_collectives(session, *plan, request);
  };
  const auto compare = [&](Session& session) {
    CompareInput input;
    input.folder = run_;
    input.label = "run";
    input.out = folder_.path("out"); // with a workbook for each rank
    return static_cast<bool>(load_compared_run(session, input));
  };
  const auto partial = [&](Session& session) {
    PartialRequest request;
    request.inputs = {run_};
    request.options.wanted = {"collectives", "top"};
    return static_cast<bool>(partial_in_memory(session, request));
  };
  expect_no_trace_read(top);
  expect_no_trace_read(partial);
  expect_no_trace_read(collectives);
  expect_no_trace_read(compare);
}

} // namespace
} // namespace rankscope
