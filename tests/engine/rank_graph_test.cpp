// Tests the activities of a rank and their waits with handmade traces.
#include "analyses/job/causes.h"
#include "analyses/job/rank_graph.h"
#include "trace_builder.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

using test::TraceBuilder;

RankGraph graph_of(const TraceBuilder& builder, bool python = false) {
  return rank_graph_of(builder.load(python));
}

NodeId node_named(const RankGraph& graph, std::string_view name) {
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (graph.text(graph.activity(n).name) == name)
      return n;
  return kNoNode;
}

std::vector<NodeWait> waits_of(const RankGraph& graph, NodeId node, WaitKind kind) {
  std::vector<NodeWait> out;
  for (const NodeWait& wait : graph.waits)
    if (wait.node == node && wait.kind() == kind)
      out.push_back(wait);
  return out;
}

CauseFacts causes_in(const TraceBuilder& builder, bool python = false,
                     const CauseOptions& options = {}) {
  std::vector<RankGraph> ranks;
  ranks.push_back(graph_of(builder, python));
  return causes_of(join_ranks(std::move(ranks), nullptr), std::nullopt, {}, options);
}

TEST(RankGraph, AKernelWaitsForItsLaunchAndItsStream) {
  TraceBuilder trace;
  trace.op("aten::a", 0, 8).kernel("one", 2, 10, 20);
  trace.op("aten::b", 9, 8).kernel("two", 12, 30, 5);
  const RankGraph graph = graph_of(trace);
  const NodeId two = node_named(graph, "two");
  ASSERT_NE(two, kNoNode);
  ASSERT_EQ(waits_of(graph, two, WaitKind::kStream).size(), 1U);
  EXPECT_EQ(waits_of(graph, two, WaitKind::kStream)[0].from, node_named(graph, "one"));
  ASSERT_EQ(waits_of(graph, two, WaitKind::kLaunch).size(), 1U);
  EXPECT_EQ(graph.text(graph.activity(two).op), "aten::b");
}

TEST(RankGraph, ASynchronisationReturnsWithTheLastWork) {
  TraceBuilder trace;
  trace.op("aten::a", 0, 4).kernel("one", 1, 10, 90); // until 100
  trace.call("hipDeviceSynchronize", 20, 82);         // until 102
  trace.op("aten::b", 110, 4).kernel("two", 111, 115, 5);
  const RankGraph graph = graph_of(trace);
  const NodeId call = node_named(graph, "hipDeviceSynchronize");
  ASSERT_NE(call, kNoNode);
  const std::vector<NodeWait> waits = waits_of(graph, call, WaitKind::kBlocking);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].from, node_named(graph, "one"));
  EXPECT_EQ(graph.nodes[call].dur_ns, 2000); // its own time is the part after the end of the kernel
}

TEST(RankGraph, AnOptimizerIsFoundInsideAnAnnotationOfTheLoop) {
  TraceBuilder trace;
  trace.annotation("## optimizer ##", 0, 40).annotation("Optimizer.step#SGD.step", 1, 38);
  trace.op("aten::add_", 2, 8).kernel("one", 4, 10, 20);
  trace.op("aten::add_", 20, 8).kernel("two", 22, 35, 5);
  const RankGraph graph = graph_of(trace);
  const Activity& two = graph.activity(node_named(graph, "two"));
  EXPECT_EQ(graph.text(two.context), "Optimizer.step#SGD.step");
  for (const Activity& a : graph.activities)
    if (a.kind == ActivityKind::kHost && a.context != kEmptyStr) {
      EXPECT_EQ(graph.text(a.context), "Optimizer.step#SGD.step");
    }
}

TEST(RankGraph, ACallInACheckpointHasItsFunction) {
  TraceBuilder trace;
  trace.frame("torch/serialization.py(884): save", 0, 60);
  trace.frame("torch/serialization.py(1110): _save", 1, 58);
  trace.frame("<built-in method copy_ of UntypedStorage object at 0x7fc5bedd70c0>", 2, 20);
  trace.op("aten::copy_", 3, 18).copy("Memcpy DtoH (Device -> Pageable)", 5, 8, 10);
  trace.op("aten::mm", 70, 8).kernel("gemm", 72, 80, 5);
  const RankGraph graph = graph_of(trace, true);
  EXPECT_EQ(
      graph.text(graph.activity(node_named(graph, "Memcpy DtoH (Device -> Pageable)")).context),
      "torch/serialization.py(884): save");
}

// Clocks in floating-point microseconds make the end of a range inexact.
TEST(RankGraph, AnOperatorThatHasEndedIsNotTheContextOfACall) {
  for (const double overlap : {0.0, 0.002}) {
    SCOPED_TRACE(overlap);
    TraceBuilder trace;
    trace.op("aten::first", 0, 10 + overlap).kernel("one", 2, 5, 5);
    trace.op("aten::second", 10, 40).kernel("two", 20, 25, 5).kernel("three", 45, 50, 5);
    trace.op("aten::third", 60, 10).kernel("four", 65, 70, 5);
    const RankGraph graph = graph_of(trace);
    for (const auto& [kernel, context] :
         {std::pair("two", "aten::second"), std::pair("four", "aten::third")})
      EXPECT_EQ(graph.text(graph.activity(node_named(graph, kernel)).context), context);
    // from the launch at 2 us to that at 20 us, and from that at 45 us to that at 65 us
    std::vector<std::string> before;
    for (const RankNode& node : graph.nodes)
      if (const Activity& a = graph.activities[node.activity];
          a.kind == ActivityKind::kHost && node.dur_ns > 0)
        before.emplace_back(graph.text(a.context));
    EXPECT_EQ(before, (std::vector<std::string>{"aten::first", "aten::second", "aten::second"}));
  }
}

TEST(RankGraph, ACallThatDoesNotWaitIsNotBlocked) {
  TraceBuilder trace;
  trace.op("aten::a", 0, 4).kernel("one", 1, 10, 20);
  trace.call("hipDeviceSynchronize", 60, 1); // all work has ended before
  trace.op("aten::b", 110, 4).kernel("two", 111, 115, 5);
  const RankGraph graph = graph_of(trace);
  EXPECT_TRUE(
      waits_of(graph, node_named(graph, "hipDeviceSynchronize"), WaitKind::kBlocking).empty());
}

TEST(RankGraph, ThreadsThatTakeTurnsAreOneSequence) {
  TraceBuilder trace;
  trace.op("aten::a", 0, 10, "{}", 1).kernel("forward", 2, 5, 5, 7, 1);
  trace.op("aten::b", 30, 10, "{}", 2).kernel("backward", 32, 36, 5, 7, 2);
  trace.op("aten::c", 60, 10, "{}", 1).kernel("optimizer", 62, 66, 5, 7, 1);
  const RankGraph graph = graph_of(trace);
  std::size_t hand_overs = 0;
  for (const NodeWait& wait : graph.waits)
    hand_overs += wait.kind() == WaitKind::kHandOver ? 1 : 0;
  EXPECT_EQ(hand_overs, 2U);
  std::vector<RankGraph> ranks;
  ranks.push_back(graph_of(trace));
  const JobRun run = join_ranks(std::move(ranks), nullptr);
  EXPECT_EQ(quality_of(run.graph, critical_path(run.graph)).negative, 0U);
}

TEST(RankGraph, WorkOnAnotherStreamIsAnInferredWait) {
  TraceBuilder trace;
  trace.op("aten::a", 0, 4).kernel("copy", 1, 10, 90, 8);
  trace.op("aten::b", 5, 4).kernel("compute", 6, 101, 5, 7); // launched long before its start
  const RankGraph graph = graph_of(trace);
  const std::vector<NodeWait> waits =
      waits_of(graph, node_named(graph, "compute"), WaitKind::kOtherStream);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].from, node_named(graph, "copy"));
}

/// Returns a trace with steps of 1 ms of GPU work, and `stall_us` of host code between the
/// optimizer and the next step.
TraceBuilder steps_with_stall(double stall_us, bool frames,
                              const std::string& frame = "train.py(7): metrics",
                              const std::string& inner = "") {
  TraceBuilder trace;
  const double step = 1000 + stall_us;
  for (int s = 0; s < 5; ++s) {
    const double at = s * step;
    trace.annotation("ProfilerStep#" + std::to_string(s + 1), at, step - 1);
    if (frames)
      trace.frame(frame, at + 10, stall_us);
    if (!inner.empty())
      trace.frame(inner, at + 15, stall_us - 20);
    for (int k = 0; k < 10; ++k) {
      const double call = at + stall_us + 20 + k * 5;
      trace.op("aten::mm", call - 1, 4).kernel("gemm", call, at + stall_us + 30 + k * 95, 95);
    }
  }
  return trace;
}

TEST(Causes, HostCodeBetweenStepsIsNamedWithItsGain) {
  const CauseFacts facts = causes_in(steps_with_stall(2000, true), true);
  ASSERT_EQ(facts.causes.size(), 1U);
  const StepCause& cause = facts.causes.front();
  EXPECT_EQ(cause.rule, CauseRule::kHostCode);
  EXPECT_EQ(cause.what, "train.py(7): metrics");
  EXPECT_NEAR(facts.step_ms, 3.0, 0.01);
  // a step needs 950 us of the GPU and 70 us of the host
  EXPECT_NEAR(facts.after_ms, 0.95, 0.05);
  EXPECT_NEAR(cause.gain_ms, 2.05, 0.06);
  double path = 0;
  for (const PathRow& row : facts.path)
    path += row.ms;
  EXPECT_NEAR(path, facts.step_ms, 1e-9);
  EXPECT_EQ(facts.path.front().what, "train.py(7): metrics");
}

TEST(Causes, FramesDecideTheRule) {
  const auto rule_of = [](const char* frame) {
    const CauseFacts facts = causes_in(steps_with_stall(2000, true, frame), true);
    return facts.causes.empty() ? std::string_view() : cause_rule_id(facts.causes.front().rule);
  };
  EXPECT_EQ(rule_of("torch/utils/data/dataloader.py(700): __next__"), "data-loader");
  EXPECT_EQ(rule_of("<built-in function collect>"), "garbage-collection");
  EXPECT_EQ(rule_of("torch/serialization.py(920): save"), "checkpoint");
  // recomputation of activations writes no checkpoint
  EXPECT_EQ(rule_of("torch/utils/checkpoint.py(480): checkpoint"), "host-code");
}

TEST(Causes, AFrameAroundDecidesTheRule) {
  const auto cause_of = [](const char* frame, const char* inner) {
    const CauseFacts facts = causes_in(steps_with_stall(2000, true, frame, inner), true);
    return facts.causes.empty() ? std::string()
                                : std::string(cause_rule_id(facts.causes.front().rule)) + " " +
                                      facts.causes.front().what;
  };
  EXPECT_EQ(
      cause_of("torch/serialization.py(884): save",
               "<built-in method write_record of PyTorchFileWriter object at 0x7fc5bf3b1d20>"),
      "checkpoint torch/serialization.py(884): save");
  EXPECT_EQ(cause_of("torch/serialization.py(884): save", "torch/serialization.py(1110): _save"),
            "checkpoint torch/serialization.py(884): save");
  EXPECT_EQ(cause_of("torch/utils/data/dataloader.py(733): __next__", "dataset.py(8): __getitem__"),
            "data-loader torch/utils/data/dataloader.py(733): __next__");
  EXPECT_EQ(
      cause_of("torch/_dynamo/convert_frame.py(1336): __call__", "torch/fx/graph.py(9): lint"),
      "code-loading ");
  // a compiled function runs in this frame too
  EXPECT_EQ(cause_of("torch/_dynamo/eval_frame.py(655): _fn", "train.py(7): metrics"),
            "host-code train.py(7): metrics");
  // the innermost known function
  EXPECT_EQ(
      cause_of("torch/utils/data/dataloader.py(733): __next__", "<built-in function collect>"),
      "garbage-collection <built-in function collect>");
}

TEST(Causes, WithoutFramesTheOperatorsAroundIt) {
  const CauseFacts facts = causes_in(steps_with_stall(2000, false));
  ASSERT_EQ(facts.causes.size(), 1U);
  EXPECT_EQ(facts.causes.front().what, "");
  EXPECT_EQ(facts.causes.front().before, "aten::mm");
  EXPECT_EQ(facts.causes.front().after, "aten::mm");
  EXPECT_EQ(facts.causes.front().confidence, Confidence::kLikely);
}

// `why` blamed garbage collection for a pause in every step, because "train_step 7" was its name.
TEST(Causes, AnAnnotationAroundTheStepNamesNothing) {
  for (const bool numbered : {false, true}) {
    SCOPED_TRACE(numbered);
    TraceBuilder trace = steps_with_stall(2000, false);
    for (int s = 0; s < 5; ++s)
      trace.annotation(numbered ? "train_step " + std::to_string(s) : "train_step", s * 3000 + 1,
                       2990);
    CauseOptions options;
    options.prediction = true;
    const CauseFacts facts = causes_in(trace, false, options);
    ASSERT_EQ(facts.causes.size(), 1U);
    EXPECT_EQ(facts.causes.front().rule, CauseRule::kHostCode);
    EXPECT_EQ(facts.causes.front().what, "");
    EXPECT_EQ(facts.causes.front().after, "aten::mm");
    EXPECT_TRUE(facts.prediction_error);
    EXPECT_EQ(facts.path.front().what, "before aten::mm");
  }
}

TEST(Causes, AnAnnotationWithoutLaunchesNamesTheHostCodeHoweverLong) {
  TraceBuilder trace = steps_with_stall(9000, false);
  for (int s = 0; s < 5; ++s)
    trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", s * 10000 + 5,
                     9000);
  const CauseFacts facts = causes_in(trace);
  ASSERT_EQ(facts.causes.size(), 1U);
  EXPECT_EQ(facts.causes.front().rule, CauseRule::kLoader);
}

TEST(Causes, TheNumberOfTheStepIsNotPartOfAName) {
  const auto cause_in = [](const std::function<std::string(int)>& name) {
    TraceBuilder trace = steps_with_stall(2000, false);
    for (int s = 0; s < 5; ++s)
      trace.annotation(name(s), s * 3000 + 10, 2000);
    return causes_in(trace).causes.at(0);
  };
  const StepCause batch = cause_in([](int s) { return "load batch " + std::to_string(s); });
  EXPECT_EQ(batch.rule, CauseRule::kHostCode);
  EXPECT_EQ(batch.what, "load batch N");
  EXPECT_EQ(batch.steps_seen, 4U);
  // these numbers recur
  EXPECT_EQ(cause_in([](int s) { return "load shard " + std::to_string(s % 2); }).what,
            "load shard 1");
}

// Graphs of many short kernels are no reason to launch graphs.
TEST(Causes, GraphLaunchesAreComparedWithTheTimeOfTheirKernels) {
  const auto facts_of = [](double interval_us) {
    TraceBuilder trace;
    for (int s = 0; s < 20; ++s)
      trace.graph(std::vector<std::string>(50, "one"), s * interval_us, s * interval_us + 5);
    CauseOptions options;
    options.rule = CauseRule::kLaunchBound;
    return causes_in(trace, false, options);
  };
  const CauseFacts late = facts_of(600);
  ASSERT_EQ(late.causes.size(), 1U);
  EXPECT_EQ(late.causes.front().what, "cudaGraphLaunch");
  EXPECT_NEAR(late.causes.front().launch_us, 600, 1e-6);
  EXPECT_NEAR(late.causes.front().kernel_us, 500, 1e-6); // 50 kernels of 10 us
  EXPECT_TRUE(facts_of(500).causes.empty());
}

TEST(Causes, ACallThatWaitsForACopyFromTheHostReadsNothing) {
  TraceBuilder trace;
  for (int s = 0; s < 10; ++s) {
    const double at = s * 1000; // 95 us of host code follow each copy
    const char* const copy =
        s % 2 == 0 ? "Memcpy DtoH (Device -> Pageable)" : "Memcpy HtoD (Pageable -> Device)";
    trace.op("aten::mm", at, 8).kernel("gemm", at + 2, at + 10, 890);
    trace.op("aten::copy_", at + 20, 886).copy(copy, at + 21, at + 901, 2);
    trace.call("hipStreamSynchronize", at + 23, 882);
  }
  std::vector<std::pair<std::string, bool>> found;
  CauseOptions options;
  options.rule = CauseRule::kReadBack;
  for (const StepCause& cause : causes_in(trace, false, options).causes)
    found.emplace_back(cause.what, cause.from_host);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, bool>>{{"aten::copy_", false},
                                                              {"aten::copy_", true}}));
}

TEST(Causes, NoWorkIsDelayedByACallAfterTheLastLaunch) {
  // a call waits for each kernel of 1 ms; 150 us later, the host launches or waits again
  const auto causes_of_waits = [](int kernels) {
    TraceBuilder trace;
    double at = 0;
    for (int k = 0; k < kernels; ++k, at += 1162) {
      trace.op("aten::a", at, 10).kernel("one", at + 5, at + 10, 1000);
      trace.call("hipDeviceSynchronize", at + 20, 992);
    }
    return causes_in(trace.call("hipDeviceSynchronize", at, 2)).causes;
  };
  EXPECT_TRUE(causes_of_waits(1).empty());
  const std::vector<StepCause> two = causes_of_waits(2);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two.front().rule, CauseRule::kReadBack);
  EXPECT_EQ(two.front().count, 2U);
  EXPECT_NEAR(two.front().gain_ms, 0.16, 0.01);
}

/// Steps whose all-reduces run on another stream while the main stream has no work. The trace shows
/// no event between the streams. At its end, each step waits for the GPU. `busy_us`: set to the GPU
/// time of a step.
TraceBuilder steps_with_reductions(std::mt19937& random, double& busy_us) {
  const auto us = [&random](double most) {
    return std::uniform_real_distribution<double>(most / 4, most)(random);
  };
  const std::size_t kernels = 1 + random() % 4, layers = 1 + random() % 2;
  const double kernel = us(400), reduction = us(400), launch = us(20), pause = us(300);
  TraceBuilder trace;
  double host = 0, gpu = 0;
  for (int step = 0; step < 6; ++step) {
    const double begin = host;
    busy_us = 0;
    const auto add = [&](const std::string& name, double dur, int stream) {
      gpu = std::max(gpu + 0.5, host + 5);
      trace.op("aten::a", host, launch).kernel(name, host + 1, gpu, dur, stream);
      gpu += dur;
      host += launch;
      busy_us += dur;
    };
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (std::size_t k = 0; k < kernels; ++k)
        add("one", kernel, 7);
      add("ncclDevKernel_AllReduce", reduction, 20);
    }
    const double end = std::max(host, gpu) + 2;
    trace.call("cudaDeviceSynchronize", host, end - host);
    host = end + pause;
    trace.annotation("ProfilerStep#" + std::to_string(step), begin, host - begin);
  }
  return trace;
}

TEST(Causes, ARemovedCallGainsAtMostTheIdleTimeOfTheGpu) {
  std::mt19937 random(7);
  std::size_t with_gain = 0;
  for (int run = 0; run < 40; ++run) {
    SCOPED_TRACE(run);
    double busy_us = 0;
    CauseOptions options;
    options.rule = CauseRule::kReadBack;
    const CauseFacts facts = causes_in(steps_with_reductions(random, busy_us), false, options);
    for (const StepCause& cause : facts.causes) {
      EXPECT_LE(cause.gain_ms, facts.step_ms - busy_us / 1e3 + 0.001);
      ++with_gain;
    }
  }
  EXPECT_GE(with_gain, 20U);
}

TEST(Causes, HostCodeBesideABusyGpuIsNoCause) {
  // each step has 500 us of host code, and 950 us of GPU work that is already queued
  TraceBuilder trace;
  for (int s = 0; s < 5; ++s) {
    const double host = s * 600, gpu = 100 + s * 950;
    trace.annotation("ProfilerStep#" + std::to_string(s + 1), host, 599);
    trace.frame("train.py(7): metrics", host + 80, 500);
    for (int k = 0; k < 10; ++k)
      trace.op("aten::mm", host + 9 + k * 5, 4).kernel("gemm", host + 10 + k * 5, gpu + k * 95, 95);
  }
  const CauseFacts facts = causes_in(trace, true);
  EXPECT_TRUE(facts.causes.empty());
  EXPECT_NEAR(facts.step_ms, 0.95, 0.01);
}

/// Returns the cost per step of a rule's only cause, in us, where the host decides the time of a
/// step. `add`: adds the events of a step that begins at the given time.
template <class Add> double cost_us(CauseRule rule, double step_us, const Add& add) {
  TraceBuilder trace;
  for (int s = 0; s < 4; ++s) {
    trace.annotation("ProfilerStep#" + std::to_string(s + 1), s * step_us, step_us - 1);
    add(trace, s * step_us);
  }
  CauseOptions options;
  options.rule = rule;
  const CauseFacts facts = causes_in(trace, false, options);
  EXPECT_EQ(facts.causes.size(), 1U);
  return facts.causes.empty() ? 0 : 1000 * facts.causes.front().cost_ms;
}

TEST(Causes, OfCopiesAndZeroedGradientsHaveNoHostTimeOutsideTheirRanges) {
  constexpr int kTimes = 40;
  // every 100 us: a product, 60 us of other host code, and a range with a call 15 us after its
  // begin
  const auto other_work = [](TraceBuilder& trace, double at) {
    trace.op("aten::mm", at + 1, 8).kernel("gemm", at + 5, at + 8, 3);
  };
  const auto copies = [&](TraceBuilder& trace, double at) {
    for (int k = 0; k < kTimes; ++k, at += 100) {
      other_work(trace, at);
      trace.op("aten::copy_", at + 70, 20);
      trace.copy("Memcpy DtoD (Device -> Device)", at + 85, at + 90, 3);
    }
  };
  EXPECT_NEAR(cost_us(CauseRule::kDeviceCopy, 100 * kTimes, copies), 16 * kTimes, 1);
  const auto zeros = [&](TraceBuilder& trace, double at) {
    for (int k = 0; k < kTimes; ++k, at += 100) {
      other_work(trace, at);
      trace.annotation("Optimizer.zero_grad#SGD.zero_grad", at + 70, 20);
      trace.op("aten::zero_", at + 80, 8).kernel("fill", at + 85, at + 90, 3);
    }
  };
  EXPECT_NEAR(cost_us(CauseRule::kZeroGrad, 100 * kTimes, zeros), 16 * kTimes, 1);
}

TEST(Causes, OfAnOptimizerLoopBeginWithTheRangeOfTheOptimizer) {
  constexpr int kTimes = 60;
  // 150 us of other host code, the begin of the optimizer, and a call 15 us later and then every 10
  // us
  const double cost = cost_us(CauseRule::kOptimizerLoop, 1000, [](TraceBuilder& trace, double at) {
    trace.op("aten::mm", at + 1, 8).kernel("gemm", at + 5, at + 8, 3);
    trace.annotation("Optimizer.step#SGD.step", at + 156, 11 + 10 * kTimes);
    for (int k = 0; k < kTimes; ++k)
      trace.op("aten::add_", at + 167 + 10 * k, 8)
          .kernel("add", at + 171 + 10 * k, at + 174 + 10 * k, 3);
  });
  EXPECT_NEAR(cost, 15 + 10 * (kTimes - 1) + 1, 2);
}

TEST(Causes, OfAPointwiseChainHaveTheTimeBetweenItsLaunches) {
  constexpr int kTimes = 40;
  constexpr const char* kArgs =
      R"({"Input Dims":[[8],[8]],"Input type":["float","float"],"Ev Idx":1})";
  // three operators, 30 us from call to call; the third may have another launch before it, 25 us
  // before its call and 20 us before its begin
  const auto add = [](bool apart) {
    return [apart](TraceBuilder& trace, double at) {
      for (int k = 0; k < kTimes; ++k, at += 120) {
        trace.op("aten::mm", at + 1, 8).kernel("gemm", at + 5, at + 8, 3);
        for (const int begin : {20, 50, 80})
          trace.op("aten::mul", at + begin, 8, kArgs)
              .kernel("mul", at + begin + 5, at + begin + 8, 3);
        if (apart)
          trace.op("aten::mm", at + 59, 2).kernel("gemm", at + 59, at + 63, 3, 8);
      }
    };
  };
  EXPECT_NEAR(cost_us(CauseRule::kPointwiseChain, 120 * kTimes, add(false)), kTimes * 60, 2);
  EXPECT_NEAR(cost_us(CauseRule::kPointwiseChain, 120 * kTimes, add(true)), kTimes * (30 + 6), 2);
}

} // namespace
} // namespace rankscope
