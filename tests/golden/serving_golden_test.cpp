// Compares the steps of recorded servers with the reference's timeline of the same traces, which
// have one step each.
#include "analyses/serving/serving_facts.h"
#include "engine/loader.h"
#include "golden_data.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns "time ms" of a row of the reference's gpu_timeline.
double reference_ms(const std::string& folder, const std::string& row) {
  std::ifstream in(golden::root() / "inference" / folder / "perf_csvs/gpu_timeline.csv");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(row + ",", 0) == 0)
      return std::stod(line.substr(row.size() + 1));
  ADD_FAILURE() << row << " of " << folder;
  return 0;
}

ServingFacts facts_of(const std::string& path) {
  const auto t = load_trace((golden::root() / "inference" / path).string(), LoadOptions{});
  EXPECT_TRUE(t) << t.error().message();
  return t->shared(ServingKey{});
}

constexpr double kRoundedMs = 1e-3; ///< the reference adds microseconds as doubles

TEST(ServingGolden, APrefillStepOfSglang) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string folder = "sglang_prefilldecode";
  const ServingFacts f = facts_of(folder + "/sglang_Qwen3-8B_prefilldecode.json.gz");
  ASSERT_EQ(f.steps.size(), 1U); // the short annotation around it is not a step
  const ServingStepFacts& step = f.steps[0];
  EXPECT_EQ(phase_of(step.step.counts), StepPhase::kPrefill);
  EXPECT_EQ(step.step.counts.context_requests, 15);
  EXPECT_EQ(step.step.counts.batch_size, 15 * 1024);
  EXPECT_EQ(step.graphs, 0U);
  // all events of the trace belong to the step
  EXPECT_NEAR(static_cast<double>(step.busy_ns) / 1e6, reference_ms(folder, "busy_time"),
              kRoundedMs);
  EXPECT_NEAR(static_cast<double>(step.idle_ns) / 1e6, reference_ms(folder, "idle_time"),
              kRoundedMs);
  EXPECT_NEAR(static_cast<double>(step.end_ns - step.gpu_start_ns) / 1e6,
              reference_ms(folder, "total_time"), kRoundedMs);
  EXPECT_EQ(f.gaps, (std::array<std::size_t, kGapCauses>{}));
}

TEST(ServingGolden, ADecodeStepOfVllmIsOneGraph) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string folder = "vllm_decode_full";
  const ServingFacts f = facts_of(folder + "/graph_execution.json.gz");
  ASSERT_EQ(f.steps.size(), 1U);
  const ServingStepFacts& step = f.steps[0];
  EXPECT_EQ(phase_of(step.step.counts), StepPhase::kDecode);
  EXPECT_EQ(step.step.counts.generation_requests, 32);
  EXPECT_EQ(step.output_tokens(), 32);
  EXPECT_EQ(step.graphs, 1U);
  EXPECT_EQ(step.gpu_events, 434U);
  EXPECT_NEAR(static_cast<double>(step.busy_ns) / 1e6, reference_ms(folder, "busy_time"),
              kRoundedMs);
}

} // namespace
} // namespace rankscope
