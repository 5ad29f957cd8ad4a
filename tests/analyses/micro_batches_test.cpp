// Tests unequal micro-batches and uneven stages with hand-made jobs. The stages of these jobs do
// not wait for each other: a step takes as long as its slowest worker.
#include "analyses/job/micro_batches.h"

#include "analyses/job/whatif.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// The position of a micro-batch in the job; all numbers begin at 0.
struct MicroBatchAt {
  std::int64_t dp = 0, stage = 0;
  std::uint32_t step = 0;
  std::int64_t batch = 0;
};
struct Durations {
  double forward_ms = 0, backward_ms = 0;
};
using DurationsOf = std::function<Durations(const MicroBatchAt&)>;

struct HandMadeJob {
  std::int64_t replicas = 2, stages = 2;
  std::uint32_t steps = 4;
  std::int64_t batches = 2;
};

/// Returns the timeline of a job: all forward computations of a step, then all backward ones.
PipelineTimeline timeline_of_job(const HandMadeJob& job, const DurationsOf& durations) {
  PipelineTimeline out;
  for (std::uint32_t step = 0; step < job.steps; ++step)
    out.steps.push_back(step);
  for (std::int64_t dp = 0; dp < job.replicas; ++dp)
    for (std::int64_t stage = 0; stage < job.stages; ++stage) {
      const auto worker = static_cast<std::uint32_t>(out.workers.size());
      out.workers.push_back({dp * job.stages + stage, dp, stage});
      for (std::uint32_t step = 0; step < job.steps; ++step) {
        std::int64_t now = std::int64_t{10'000'000'000} * step;
        for (const PipelineOp op : {PipelineOp::kForwardCompute, PipelineOp::kBackwardCompute})
          for (std::int64_t batch = 0; batch < job.batches; ++batch) {
            const Durations d = durations({dp, stage, step, batch});
            const std::int64_t ns = std::llround(
                1e6 * (op == PipelineOp::kForwardCompute ? d.forward_ms : d.backward_ms));
            out.rows.push_back({op, worker, step, batch, 0, batch, now, ns});
            now += ns;
          }
      }
    }
  return out;
}

WhatIfFacts facts_of_job(const HandMadeJob& job, const DurationsOf& durations) {
  const Result<PipelineRun> run = pipeline_run(timeline_of_job(job, durations), "test");
  EXPECT_TRUE(run) << run.error().message();
  Result<WhatIf> out = whatif_of(run->run, &run->grid, {});
  EXPECT_TRUE(out) << out.error().message();
  return std::move(out->facts);
}

/// One rank has a micro-batch of length 3 in each step, in turn; all others have length 1.
double length_of(const MicroBatchAt& p) {
  return p.dp == p.step % 2 && p.batch == 0 ? 3 : 1;
}

TEST(MicroBatches, UnequalLengthsAndAnUnevenStageHaveTheirGains) {
  // Stage 1 has 1.5 times the work of stage 0. The long rank computes lengths of 3 + 1 = 4. A
  // length takes 30 ms on stage 0 and 45 ms on stage 1; the mean length is 1.5.
  const WhatIfFacts facts = facts_of_job({}, [](const MicroBatchAt& p) -> Durations {
    const double work = length_of(p) * (p.stage == 1 ? 1.5 : 1);
    return {10 * work, 20 * work};
  });
  const StragglerFacts& s = *facts.stragglers;
  EXPECT_NEAR(s.without_delays_ms, 180, 1e-6); // 4 * 45
  EXPECT_NEAR(s.ideal_ms, 112.5, 1e-6);        // 2 * 1.5 * 37.5
  EXPECT_NEAR(s.equal_batches->gain_ms, 180 - 2 * 1.5 * 45, 1e-6);
  EXPECT_NEAR(*s.equal_batches->low_ms, 45, 1e-6);
  EXPECT_NEAR(s.equal_batches->removed, 45 / 67.5, 1e-6);
  EXPECT_NEAR(s.even_stages->gain_ms, 180 - 4 * 37.5, 1e-6);
  EXPECT_NEAR(s.equal_and_even->gain_ms, 67.5, 1e-6);
  EXPECT_NEAR(s.last_stage->gain_ms, 180 - 120, 1e-6); // stage 0 is then the slowest
  ASSERT_TRUE(s.correlation);
  EXPECT_NEAR(s.correlation->coefficient, 1, 1e-9);
  EXPECT_NEAR(*s.correlation->low, 1, 1e-9);
  EXPECT_EQ(s.correlation->pairs, 2U * 2 * 4 * 2);
}

TEST(MicroBatches, DurationsThatVaryByChanceDoNotCorrelate) {
  // In each step, one rank has forward durations of 30 30 10 10 ms and backward durations of 60 20
  // 60 20 ms; the sum of the products of their deviations is 0.
  HandMadeJob job;
  job.batches = 4;
  const WhatIfFacts facts = facts_of_job(job, [](const MicroBatchAt& p) -> Durations {
    if (p.dp != p.step % 2)
      return {10, 20};
    return {p.batch < 2 ? 30.0 : 10.0, p.batch % 2 == 0 ? 60.0 : 20.0};
  });
  const StragglerFacts& s = *facts.stragglers;
  EXPECT_GT(s.slowdown(), 1.2);
  EXPECT_NEAR(s.equal_batches->removed, 1, 1e-6); // the replay alone does not show the reason
  ASSERT_TRUE(s.correlation);
  EXPECT_NEAR(s.correlation->coefficient, 0, 1e-9);
  EXPECT_EQ(s.correlation->pairs, 2U * 2 * 4 * 4);
}

TEST(MicroBatches, TheCoefficientIsPearsonsOverDeviations) {
  // forward 1 2 3, backward 1 3 2: r = 0.5. Rank, stage and step add a constant, which does not
  // count.
  HandMadeJob job;
  job.batches = 3;
  const WhatIfFacts facts = facts_of_job(job, [](const MicroBatchAt& p) -> Durations {
    const double more = 100.0 * static_cast<double>(p.dp + 2 * p.stage) + 10.0 * p.step;
    return {more + 1 + static_cast<double>(p.batch), more + (p.batch == 0   ? 1
                                                             : p.batch == 1 ? 3
                                                                            : 2)};
  });
  ASSERT_TRUE(facts.stragglers->correlation);
  EXPECT_NEAR(facts.stragglers->correlation->coefficient, 0.5, 1e-6);
}

TEST(MicroBatches, TheIntervalIsTheJackknifeOverSteps) {
  // Sums of squares and products of a step: forward 2, backward 2, product 1 or 2 (r 0.5 or 1).
  // All four steps: r = 0.75; without one step: r = 5/6 or 4/6.
  HandMadeJob job;
  job.replicas = job.stages = 1;
  job.batches = 3;
  const Result<PipelineRun> run =
      pipeline_run(timeline_of_job(job,
                                   [](const MicroBatchAt& p) -> Durations {
                                     const double x = 1 + static_cast<double>(p.batch);
                                     return {x, p.step % 2 == 0 || p.batch == 0 ? x : 5 - x};
                                   }),
                   "test");
  ASSERT_TRUE(run);
  const std::vector<std::int64_t> ends = step_ends(run->run, {});
  const CountedSteps clock(run->run, critical_path(run->run.graph), ends);
  const auto c = micro_batch_correlation(run->run, run->grid, clock);
  ASSERT_TRUE(c && c->low && c->high);
  EXPECT_NEAR(c->coefficient, 0.75, 1e-9);
  const double z = std::atanh(0.75);
  const double high = 4 * z - 3 * std::atanh(4.0 / 6), low = 4 * z - 3 * std::atanh(5.0 / 6);
  // the pseudo-values are twice high and twice low: standard error |high - low| / 2 / sqrt(3)
  const double half = 3.182446 * std::abs(high - low) / 2 / std::sqrt(3.0);
  EXPECT_NEAR(*c->low, std::tanh(z - half), 1e-5);
  EXPECT_NEAR(*c->high, std::tanh(z + half), 1e-5);
}

TEST(MicroBatches, ASlowRankIsNotALength) {
  // A rank that is always slow has almost equal micro-batches: its excess remains.
  HandMadeJob job;
  job.steps = 8;
  const WhatIfFacts always = facts_of_job(job, [](const MicroBatchAt& p) -> Durations {
    const double work = (p.dp == 1 ? 2 : 1) * (p.batch == 0 ? 1.001 : 0.999);
    return {10 * work, 20 * work};
  });
  EXPECT_NEAR(always.stragglers->correlation->coefficient, 1, 1e-6);
  EXPECT_NEAR(always.stragglers->equal_batches->removed, 0, 0.01);
  // a rank that is slow in some steps has equal micro-batches in each step: no correlation
  const WhatIfFacts sometimes = facts_of_job(job, [](const MicroBatchAt& p) -> Durations {
    const double work = p.dp == 1 && p.step % 2 == 0 ? 2 : 1;
    return {10 * work, 20 * work};
  });
  EXPECT_FALSE(sometimes.stragglers->correlation);
}

TEST(MicroBatches, WithoutTheirNumbersThereIsNoCorrelation) {
  PipelineTimeline timeline = timeline_of_job({}, [](const MicroBatchAt& p) -> Durations {
    return {10 * length_of(p), 20 * length_of(p)};
  });
  for (PipelineRow& row : timeline.rows)
    row.micro_batch = -1;
  const Result<PipelineRun> run = pipeline_run(timeline, "test");
  ASSERT_TRUE(run);
  const Result<WhatIf> out = whatif_of(run->run, &run->grid, {});
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->facts.stragglers->correlation);
  EXPECT_TRUE(out->facts.stragglers->equal_batches);
}

} // namespace
} // namespace rankscope
