// Tests steps of a server with hand-calculated times, batches, rates and gaps.
#include "analyses/analysis.h"
#include "analyses/inference/step_windows.h"
#include "analyses/serving/serving_facts.h"
#include "analyses/timeline/gpu_timeline.h"
#include "trace_builder.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

std::string vllm(int context, int context_tokens, int generation) {
  const std::string c = std::to_string(context_tokens);
  const std::string g = std::to_string(generation);
  return "execute_" + std::to_string(context_tokens + generation) + "_context_" +
         std::to_string(context) + "(sq" + c + "sk" + c + "sqsq" + c + "sqsk" + c +
         ")_generation_" + g + "(sq" + g + "sk" + g + "sqsq" + g + "sqsk" + g + ")";
}

/// Returns a trace of a prompt of 1024 tokens, and then two requests that decode twice. Times are
/// in us; a launch takes 1 us.
TraceBuilder three_steps() {
  TraceBuilder b;
  b.annotation(vllm(1, 1024, 0), 0, 100).kernel("prompt", 50, 60, 100);
  b.annotation(vllm(0, 0, 2), 110, 100)
      .call("cudaStreamSynchronize", 165, 10)
      .kernel("token", 190, 200, 30);
  b.annotation(vllm(0, 0, 2), 250, 50).kernel("token", 260, 280, 30);
  return b;
}

const ServingMetric* metric(const ServingFacts& facts, std::string_view phase,
                            std::string_view name) {
  for (const ServingMetric& m : facts.metrics)
    if (m.phase == phase && m.metric.starts_with(name))
      return &m;
  return nullptr;
}

TEST(Serving, StepsHaveTheTimesOfTheirGpuWork) {
  const LoadedTrace t = three_steps().load();
  const ServingFacts f = t.shared(ServingKey{});
  ASSERT_EQ(f.steps.size(), 3U);
  EXPECT_EQ(phase_of(f.steps[0].step.counts), StepPhase::kPrefill);
  EXPECT_EQ(phase_of(f.steps[1].step.counts), StepPhase::kDecode);
  EXPECT_EQ(f.steps[0].step.counts.batch_size, 1024);
  EXPECT_EQ(f.steps[1].step.counts.batch_size, 2);
  // the prompt's kernel ends at 160, after the start of the second step and before the start of the
  // last step
  EXPECT_EQ(f.steps[0].time_ns, 160'000);
  EXPECT_EQ(f.steps[1].time_ns, 230'000 - 160'000);
  EXPECT_EQ(f.steps[2].time_ns, 310'000 - 250'000);
  EXPECT_EQ(f.steps[2].period_ns, 310'000 - 230'000);
  EXPECT_EQ(f.steps[0].busy_ns, 100'000);
  EXPECT_EQ(f.steps[0].idle_ns, 0);
  EXPECT_EQ(f.steps[2].launches, 1U);
  EXPECT_EQ(f.span_ns, 310'000);
}

TEST(Serving, GapsAreToldByWhatTheCpuDid) {
  const LoadedTrace t = three_steps().load();
  const ServingFacts f = t.shared(ServingKey{});
  const auto part = [&f](std::size_t step, GapCause cause) {
    return f.steps[step].gap_by_cause[static_cast<std::size_t>(cause)];
  };
  EXPECT_EQ(f.steps[0].gap_ns, 0);
  EXPECT_EQ(f.steps[0].cause, GapCause::kNone);
  // from 160 to 200: waits from 165 to 175, launched at 191, the rest is host time in the step
  EXPECT_EQ(f.steps[1].gap_ns, 40'000);
  EXPECT_EQ(part(1, GapCause::kSync), 10'000);
  EXPECT_EQ(part(1, GapCause::kLaunch), 9'000);
  EXPECT_EQ(part(1, GapCause::kHost), 21'000);
  EXPECT_EQ(f.steps[1].cause, GapCause::kHost);
  // from 230 to 280: outside a step until 250, in the step until 261, then launch time
  EXPECT_EQ(f.steps[2].gap_ns, 50'000);
  EXPECT_EQ(part(2, GapCause::kScheduler), 20'000);
  EXPECT_EQ(part(2, GapCause::kHost), 11'000);
  EXPECT_EQ(part(2, GapCause::kLaunch), 19'000);
  EXPECT_EQ(f.steps[2].cause, GapCause::kScheduler);
  EXPECT_EQ(f.gap_ns[static_cast<std::size_t>(GapCause::kHost)], 32'000);
  EXPECT_EQ(f.gaps[static_cast<std::size_t>(GapCause::kHost)], 1U);
}

TEST(Serving, RequestsWaitFromTokenToToken) {
  const LoadedTrace t = three_steps().load();
  const ServingFacts f = t.shared(ServingKey{});
  const ServingMetric* first = metric(f, "all", "first token");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->count, 1);
  EXPECT_DOUBLE_EQ(first->mean, 0.16);
  // one request gets a token after the prompt (160 to 230), then both decode again (230 to 310)
  const ServingMetric* between = metric(f, "all", "between tokens");
  ASSERT_NE(between, nullptr);
  EXPECT_EQ(between->count, 3);
  EXPECT_NEAR(between->mean, (0.07 + 2 * 0.08) / 3, 1e-12);
  EXPECT_DOUBLE_EQ(between->p50, 0.08);
  const ServingMetric* rate = metric(f, "all", "output tokens per second");
  ASSERT_NE(rate, nullptr);
  EXPECT_NEAR(rate->mean, 5 / 310e-6, 1e-6);
  const ServingMetric* decode = metric(f, "decode", "step time");
  ASSERT_NE(decode, nullptr);
  EXPECT_EQ(decode->count, 2);
  EXPECT_DOUBLE_EQ(decode->mean, 0.065);
  EXPECT_EQ(metric(f, "mixed", "step time"), nullptr);
}

// Server steps overlap, and a step without GPU work ends on the CPU before the work of others: the
// times of the later steps were too long, and a time between tokens was negative.
TEST(Serving, AStepWithoutGpuWorkEndsNothing) {
  const auto facts_of = [](int unrecorded) {
    TraceBuilder b;
    b.annotation(vllm(0, 0, 2), 0, 20).kernel("token", 10, 300, 200);
    b.annotation(vllm(0, 0, unrecorded), 30, 20); // 0: an idle step
    b.annotation(vllm(0, 0, 2), 60, 20).kernel("token", 70, 500, 200);
    return b.load();
  };
  const LoadedTrace idle = facts_of(0), lost = facts_of(2);
  for (const LoadedTrace* trace : {&idle, &lost}) {
    const ServingFacts& f = trace->shared(ServingKey{});
    ASSERT_EQ(f.steps.size(), 3U);
    EXPECT_EQ(f.steps[0].time_ns, 500'000);
    EXPECT_EQ(f.steps[1].time_ns, 0);
    EXPECT_EQ(f.steps[2].time_ns, 200'000);
    EXPECT_EQ(f.steps[2].period_ns, 200'000);
    EXPECT_EQ(f.steps[1].lacks_gpu_work(), trace == &lost);
    EXPECT_EQ(f.span_ns, 700'000);
  }
  const ServingMetric* between = metric(idle.shared(ServingKey{}), "all", "between tokens");
  ASSERT_NE(between, nullptr);
  EXPECT_DOUBLE_EQ(between->mean, 0.2);
  // the requests got a token in the lost step, at an unknown time
  EXPECT_EQ(metric(lost.shared(ServingKey{}), "all", "between tokens"), nullptr);
  const ServingMetric* times = metric(lost.shared(ServingKey{}), "decode", "step time");
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->count, 2);
}

TEST(Serving, OtherGpuWorkInAGapIsNotIdle) {
  TraceBuilder b = three_steps();
  b.kernel("sampler", 240, 242, 5); // launched between the steps
  const ServingFacts f = compute(b.load(), ServingKey{});
  EXPECT_EQ(f.steps[2].gap_ns, 45'000);
  EXPECT_EQ(f.steps[2].gpu_events, 1U);
}

TEST(Serving, ShortAnnotationsAroundDetailedOnesAreNoStepsOfTheirOwn) {
  TraceBuilder b = three_steps();
  b.annotation("execute_context_1(1024)_generation_0(0)", 1, 98);
  EXPECT_EQ(compute(b.load(), ServingKey{}).steps.size(), 3U);
  TraceBuilder brief;
  brief.annotation("step[EXTEND bs=2 toks=512]", 0, 10).annotation("step[DECODE bs=2]", 20, 10);
  const ServingFacts f = compute(brief.load(), ServingKey{});
  ASSERT_EQ(f.steps.size(), 2U);
  EXPECT_EQ(f.steps[0].step.counts.batch_size, 512);
  // without GPU work, the step ends with its annotation on the CPU
  EXPECT_EQ(f.steps[1].end_ns, 30'000);
}

// Two prompts of 30 and 10 tokens in a step of 100 us. The kernel of the step ends 160 us after the
// start of the step.
TEST(Serving, RequestsWhereAnnotationsListThem) {
  TraceBuilder b;
  b.annotation("prefill[bs=2 tok=40 ctx=[30, 10] sqsq=1000 sqsk=1000 sk=40]", 0, 100)
      .kernel("k", 10, 60, 100)
      .annotation("decode[bs=2 tok=2 sqsq=2 sqsk=42 sk=42]", 200, 50);
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  const Table* requests = report->find("serving_requests");
  ASSERT_NE(requests, nullptr);
  ASSERT_EQ(requests->rows(), 2U);
  EXPECT_EQ(requests->at(0, 3).i, 30);
  EXPECT_EQ(requests->at(0, 4).d, 75);
  EXPECT_EQ(requests->at(1, 2).i, 2);
  EXPECT_EQ(requests->at(1, 5).d, 0.16);
  EXPECT_EQ(build_report(three_steps().load(), {})->find("serving_requests"), nullptr);
}

// GPU work of the steps that are not chosen is not idle time, and does not change the others.
TEST(Serving, AChosenStepHasTheValuesOfTheCompleteTrace) {
  TraceBuilder b = three_steps();
  b.annotation(vllm(1, 64, 0), 310, 20).kernel("prompt", 312, 320, 60);
  b.annotation(vllm(0, 0, 3), 390, 20).kernel("token", 395, 400, 20);
  const auto all = build_report(b.load(), {});
  ASSERT_TRUE(all);
  const Table& steps = *all->find("serving_steps");
  StepChoice choice;
  choice.phase = StepPhase::kDecode;
  std::string chosen;
  const auto part = part_of_choice(b.load(), choice, false, chosen);
  ASSERT_TRUE(part);
  const auto report = build_report(*part, {});
  ASSERT_TRUE(report);
  const Table& decode = *report->find("serving_steps");
  ASSERT_EQ(decode.rows(), 3U);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t c = 0; c < steps.columns().size(); ++c)
      EXPECT_EQ(shown_value(decode.at(row, c), steps.columns()[c]),
                shown_value(steps.at(std::array{1U, 2U, 4U}[row], c), steps.columns()[c]))
          << steps.columns()[c].name;
  const ServingFacts f = part->shared(ServingKey{});
  EXPECT_EQ(f.span_ns, 190'000); // 160 to 310 and 380 to 420, in us
  // between tokens: as in the complete trace
  EXPECT_EQ(metric(f, "all", "between tokens")->count, 6);
  const std::vector<TimelineRow> rows = part->shared(TimelineKey{});
  const auto ns = [&rows](TimeKind kind) {
    return std::ranges::find(rows, kind, &TimelineRow::kind)->time_ns;
  };
  EXPECT_EQ(ns(TimeKind::kBusy), 80'000);
  EXPECT_EQ(ns(TimeKind::kIdle), 80'000); // 230 to 280, 310 to 320, 380 to 400
  EXPECT_EQ(ns(TimeKind::kTotal), 160'000);
}

// A mode of SGLang that does not divide its requests between prefill and decode has no metric of
// requests or tokens.
TEST(Serving, AModeWithoutCountsHasNoRequests) {
  TraceBuilder b;
  const char* const modes[] = {"EXTEND", "DECODE", "MIXED", "IDLE", "TARGET_VERIFY", "DECODE"};
  int at = 0;
  for (const char* mode : modes) {
    b.annotation("step[" + std::string(mode) + " bs=2 toks=12]", at, 50)
        .kernel("k", at + 10, at + 20, 40);
    at += 100;
  }
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  const Table& steps = *report->find("serving_steps");
  const char* const phases[] = {"prefill", "decode", "mixed", "idle", "", "decode"};
  for (std::size_t row = 0; row < std::size(modes); ++row) {
    EXPECT_EQ(steps.at(row, "phase").text, phases[row]);
    for (const char* column :
         {"context_requests", "generation_requests", "context_tokens", "generation_tokens",
          "batch_size", "tokens per second", "output tokens per second"})
      EXPECT_EQ(steps.at(row, column).is_null(), row == 2 || row == 4) << modes[row] << column;
  }
  const ServingFacts f = compute(b.load(), ServingKey{});
  EXPECT_EQ(metric(f, "all", "first token")->count, 2);
  EXPECT_EQ(metric(f, "all", "between tokens")->count, 2); // not between the steps of DECODE
  EXPECT_EQ(metric(f, "all", "output tokens per second"), nullptr);
  EXPECT_EQ(metric(f, "mixed", "step time")->count, 1);
  EXPECT_EQ(metric(f, "mixed", "requests"), nullptr);
}

// A step of a diffusion model has neither requests nor tokens.
TEST(Serving, ADiffusionStepHasNoTokens) {
  TraceBuilder b;
  b.annotation("execute_diffusion_1_512x768", 0, 100).kernel("k", 10, 20, 150);
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  const Table& steps = *report->find("serving_steps");
  EXPECT_EQ(steps.at(0, "phase").text, "diffusion");
  for (const char* column : {"batch_size", "tokens per second", "output tokens per second"})
    EXPECT_TRUE(steps.at(0, column).is_null()) << column;
  const ServingFacts f = compute(b.load(), ServingKey{});
  EXPECT_EQ(metric(f, "diffusion", "step time")->count, 1);
  for (const ServingMetric& m : f.metrics)
    EXPECT_EQ(m.metric.find("token"), std::string::npos) << m.metric;
}

TEST(Serving, QuantilesCountRequests) {
  EXPECT_EQ(weighted_quantile({{5, 3}, {1, 1}}, 0.25), 1);
  EXPECT_EQ(weighted_quantile({{5, 3}, {1, 1}}, 0.5), 5);
}

TEST(Serving, TheReportHasTheSheetsWhereThereAreSteps) {
  const auto report = build_report(three_steps().load(), {});
  ASSERT_TRUE(report);
  for (const char* name : {"serving_steps", "serving_summary", "serving_gaps"})
    EXPECT_NE(report->find(name), nullptr) << name;
  ReportOptions compat;
  compat.compat_tracelens = true;
  const auto quirks = build_report(three_steps().load(), compat);
  ASSERT_TRUE(quirks);
  EXPECT_EQ(quirks->find("serving_steps"), nullptr);
  TraceBuilder none;
  none.op("aten::mm", 0, 10).kernel("k", 1, 2, 3);
  EXPECT_EQ(build_report(none.load(), {})->find("serving_steps"), nullptr);
}

} // namespace
} // namespace rankscope
