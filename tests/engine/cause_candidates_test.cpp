// Tests which causes in GPU work the rules propose. The expected values are calculated by hand.
#include "analyses/job/cause_candidates.h"
#include "engine/hand_made_run.h"
#include "model/gpu_arch.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <utility>

namespace rankscope {
namespace {

using test::HandActivity;
using test::HandMadeRun;

constexpr std::int64_t kKernelNs = 900;

HandActivity pointwise(const char* op, const char* shapes = "[[1000], [1000]]",
                       const char* context = "aten::mul") {
  return {ActivityKind::kKernel, "vectorized", op, context, shapes, R"(["float", "float"])"};
}

/// Runs each activity once, one after the other.
JobRun in_order(const std::vector<HandActivity>& activities) {
  HandMadeRun run(1, activities);
  NodeId last = run.add(0, 0, 0, kKernelNs);
  for (std::uint32_t k = 1; k < activities.size(); ++k)
    last = run.add_after(last, 0, k, k * kKernelNs, kKernelNs);
  return run.finish();
}

using Candidates = std::vector<CauseCandidate>;
template <class Find> Candidates of_rule(CauseRule rule, const JobRun& run, const Find& find) {
  static const std::optional<GpuArch> arch = load_gpu_arch("H200").value();
  std::vector<NodeId> nodes(run.graph.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  Candidates out = find(CauseInput{run, arch}, 0, nodes);
  std::erase_if(out, [rule](const CauseCandidate& c) { return c.cause.rule != rule; });
  return out;
}
Candidates chains_of(const std::vector<HandActivity>& activities) {
  return of_rule(CauseRule::kPointwiseChain, in_order(activities), avoidable_candidates);
}
Candidates attention_of(const std::vector<HandActivity>& activities) {
  return of_rule(CauseRule::kUnfusedAttention, in_order(activities), gpu_candidates);
}

TEST(PointwiseChain, ReadsItsInputAndWritesItsResultOnce) {
  const Candidates found = chains_of(
      {pointwise("aten::mul"), pointwise("aten::add_"), pointwise("aten::tanh", "[[1000]]")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.what, "aten::mul, aten::add_, aten::tanh");
  EXPECT_EQ(found[0].cause.kind, GainKind::kAtMost);
  ASSERT_EQ(found[0].durations.size(), 3U);
  // tensors of 1000 elements: the kernels read or write 3 + 3 + 2 of them; one fused kernel would
  // read one and write one
  std::int64_t fused = 3 * kKernelNs * 2 / 8; // the first kernel becomes the fused one
  for (const auto& [node, dur] : found[0].durations)
    EXPECT_EQ(dur, std::exchange(fused, 0)) << node;
}

TEST(PointwiseChain, EndsWhereTheNumberOfElementsChanges) {
  EXPECT_TRUE(chains_of({pointwise("aten::mul"), pointwise("aten::mul"),
                         pointwise("aten::mul", "[[999], [999]]"), pointwise("aten::mul"),
                         pointwise("aten::mul")})
                  .empty());
}

TEST(PointwiseChain, EndsAtAnotherKernel) {
  EXPECT_TRUE(chains_of({pointwise("aten::mul"), pointwise("aten::mul"), pointwise("aten::mm"),
                         pointwise("aten::mul")})
                  .empty());
}

TEST(PointwiseChain, IsNotAnOptimizerThatUpdatesOneTensorAfterAnother) {
  const auto update = [](const char* op) {
    return pointwise(op, "[[1000], [1000]]", "Optimizer.step#AdamW.step");
  };
  EXPECT_TRUE(chains_of({update("aten::mul_"), update("aten::addcmul_"), update("aten::sqrt"),
                         update("aten::addcdiv_")})
                  .empty());
}

TEST(PointwiseChain, NeedsTheTypesOfItsTensors) {
  HandActivity unknown = pointwise("aten::mul");
  unknown.types = "";
  EXPECT_TRUE(chains_of({unknown, unknown, unknown}).empty());
}

HandActivity call_in(const char* context) {
  return {ActivityKind::kCall, "cudaLaunchKernel", "", context};
}
const HandActivity kBetweenCalls{ActivityKind::kHost};
Candidates graph_breaks_of(const std::vector<HandActivity>& activities) {
  return of_rule(CauseRule::kGraphBreaks, in_order(activities), host_candidates);
}

TEST(GraphBreaks, AreTheHostTimeBetweenPieces) {
  const Candidates found = graph_breaks_of({call_in("Torch-Compiled Region: 0/0"), kBetweenCalls,
                                            call_in("Torch-Compiled Region: 0/0"), kBetweenCalls,
                                            call_in("Torch-Compiled Region: 1/0")});
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].durations.size(), 1U); // not within the first piece
  EXPECT_EQ(found[0].durations[0], (std::pair<NodeId, std::int64_t>{3, 0}));
}

TEST(GraphBreaks, AreNotTheNextCallOfAPieceOrOtherOperators) {
  EXPECT_TRUE(graph_breaks_of({call_in("Torch-Compiled Region: 0/0"), kBetweenCalls,
                               call_in("Torch-Compiled Region: 0/1")}) // compiled again
                  .empty());
  EXPECT_TRUE(
      graph_breaks_of({call_in("Torch-Compiled Region: 0/0"), kBetweenCalls, call_in("aten::item"),
                       kBetweenCalls, call_in("Torch-Compiled Region: 1/0")})
          .empty());
}

Candidates device_copies_of(const HandActivity& activity) {
  return of_rule(CauseRule::kDeviceCopy, in_order({activity}), avoidable_candidates);
}

TEST(DeviceCopy, IsACopyOfTheForwardPassWithoutAChangeOfType) {
  HandActivity copy = pointwise("aten::copy_", "[[8], [8]]", "aten::clone");
  EXPECT_EQ(device_copies_of(copy).size(), 1U);
  copy.context = "autograd::engine::evaluate_function: CloneBackward0";
  EXPECT_TRUE(device_copies_of(copy).empty());
  copy.context = "Optimizer.step#AdamW.step";
  EXPECT_TRUE(device_copies_of(copy).empty());
  copy.context = "aten::to";
  copy.types = R"(["c10::BFloat16", "float"])";
  EXPECT_TRUE(device_copies_of(copy).empty());
  copy.types = ""; // the types are unknown
  EXPECT_TRUE(device_copies_of(copy).empty());
}

TEST(DeviceCopy, IsNotACopyOfTheHost) {
  HandActivity copy{ActivityKind::kCopy, "Memcpy DtoD (Device -> Device)", "aten::copy_",
                    "aten::clone"};
  EXPECT_EQ(device_copies_of(copy).size(), 1U);
  copy.name = "Memcpy HtoD (Pinned -> Device)";
  EXPECT_TRUE(device_copies_of(copy).empty());
}

TEST(ZeroGrad, IsTheWorkInsideItsAnnotation) {
  const HandActivity zero{ActivityKind::kSet, "Memset (Device)", "aten::zero_",
                          "Optimizer.zero_grad#AdamW.zero_grad"};
  HandActivity other = zero;
  other.context = "aten::zeros";
  const Candidates found =
      of_rule(CauseRule::kZeroGrad, in_order({zero, other}), avoidable_candidates);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].nodes, (std::vector<NodeId>{0}));
}

HandActivity batched(const char* shapes) {
  return {ActivityKind::kKernel, "gemm", "aten::bmm",
          "aten::matmul",        shapes, R"(["c10::BFloat16", "c10::BFloat16"])"};
}
HandActivity softmax(const char* shapes) {
  return {ActivityKind::kKernel, "softmax", "aten::_softmax",
          "aten::softmax",       shapes,    R"(["c10::BFloat16"])"};
}

TEST(UnfusedAttention, IsAllWorkOnItsScoresAgainstThePeakOfItsProducts) {
  const Candidates found = attention_of(
      {batched("[[8, 1024, 64], [8, 64, 512]]"), softmax("[[2, 4, 1024, 512], [], []]"),
       batched("[[8, 1024, 512], [8, 512, 64]]"), pointwise("aten::mul")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.what, "8x1024x512");
  ASSERT_EQ(found[0].durations.size(), 3U); // without the last kernel
  const double peak = load_gpu_arch("H200").value().tflops.at("matrix_bf16");
  const auto product =
      static_cast<std::int64_t>(2.0 * 8 * 1024 * 512 * 64 / (peak * 1e3)); // ns, truncated
  EXPECT_EQ(found[0].durations[0].second, product);
  EXPECT_EQ(found[0].durations[1].second, 0);
  EXPECT_EQ(found[0].durations[2].second, product);
}

TEST(UnfusedAttention, NeedsBothProducts) {
  EXPECT_TRUE(attention_of({batched("[[8, 1024, 64], [8, 64, 512]]"),
                            softmax("[[2, 4, 1024, 512], [], []]")})
                  .empty());
  EXPECT_TRUE(attention_of({softmax("[[2, 4, 1024, 512], [], []]"),
                            batched("[[8, 1024, 512], [8, 512, 64]]")})
                  .empty());
}

TEST(UnfusedAttention, OfFewTokensIsNotReported) {
  EXPECT_TRUE(attention_of({batched("[[8, 1024, 64], [8, 64, 256]]"),
                            softmax("[[2, 4, 1024, 256], [], []]"),
                            batched("[[8, 1024, 256], [8, 256, 64]]")})
                  .empty());
}

HandActivity product(const char* name, const char* shapes, const char* types) {
  return {ActivityKind::kKernel, name, "aten::mm", "aten::matmul", shapes, types};
}

TEST(SlowFormat, IsFp32WithoutMatrixUnitsOnNvidiaGpus) {
  const auto causes_of = [](const char* kernel) {
    return of_rule(
        CauseRule::kSlowFormat,
        in_order({product(kernel, "[[4096, 4096], [4096, 4096]]", R"(["float", "float"])")}),
        gpu_candidates);
  };
  EXPECT_EQ(causes_of("ampere_sgemm_128x128_nn").size(), 1U);
  EXPECT_TRUE(causes_of("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32").empty());
  // the matrix units of AMD GPUs compute fp32
  EXPECT_TRUE(
      causes_of("Cijk_Ailk_Bljk_SB_Bias_AS_SAV_UserArgs_MT128x128x16_MI32x32x1_SN").empty());
}

/// Runs each bf16 product once, for the given time.
Candidates misaligned_of(const std::vector<std::pair<const char*, std::int64_t>>& products) {
  std::vector<HandActivity> activities;
  for (const auto& [shapes, ns] : products)
    activities.push_back(product("nvjet_tst_128x256_64x4", shapes, R"(["c10::BFloat16"])"));
  HandMadeRun run(1, activities);
  for (std::uint32_t k = 0; k < products.size(); ++k)
    run.add(0, k, k * 10'000'000, products[k].second);
  return of_rule(CauseRule::kMisaligned, run.finish(), gpu_candidates);
}

TEST(Misaligned, GainsTheDifferenceOfItsRates) {
  // 2 * 8192 * 1024 * 50257 flops at 281.06 TFLOPS, the next size at 562.66
  const Candidates found = misaligned_of({{"[[8192, 1024], [1024, 50257]]", 3'000'000},
                                          {"[[8192, 1024], [1024, 50304]]", 1'500'000},
                                          {"[[8192, 1024], [1024, 50255]]", 2'000'000}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.kind, GainKind::kEstimate);
  EXPECT_EQ(found[0].cause.what, "8192x50257x1024");
  ASSERT_EQ(found[0].durations.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found[0].durations[0].second), 1.5e6 * 50257 / 50304, 2);
  // both rates are of the same products
  EXPECT_NEAR(found[0].cause.rate, 2.0 * 8192 * 1024 * (50257 + 50255) / 5e6 / 1e3, 1e-6);
  EXPECT_NEAR(found[0].cause.rate_to, 2.0 * 8192 * 1024 * 50304 / 1.5e6 / 1e3, 1e-6);
}

TEST(Misaligned, ProductsThatMemoryBoundsAreNot) {
  // 13 or 16 tokens of an expert: both read the same weights, in the same time
  EXPECT_TRUE(misaligned_of({{"[[13, 14336], [14336, 4096]]", 41'000},
                             {"[[16, 14336], [14336, 4096]]", 41'000}})
                  .empty());
}

/// Returns steps of one rank with a GEMM of 1000 ns, and a GEMM of 700 ns that is not overlapped. A
/// collective starts with the first GEMM and takes the given time; during the collective, a GEMM
/// takes `factor` times as long.
JobRun overlapped_gemms(const std::vector<std::int64_t>& collectives_ns, double factor) {
  const HandActivity gemm = {ActivityKind::kKernel, "nvjet_tst_128x256_64x4", "aten::mm"};
  HandMadeRun run(1, {gemm, {ActivityKind::kCollective, "ncclDevKernel_AllReduce"}});
  constexpr std::int64_t kStepNs = 10'000;
  NodeId last = kNoNode;
  for (std::size_t step = 0; step < collectives_ns.size(); ++step) {
    run.begin_step(static_cast<std::int64_t>(step));
    const std::int64_t start = kStepNs * static_cast<std::int64_t>(step),
                       comm_ns = collectives_ns[step];
    if (comm_ns > 0)
      run.alone(0, start, comm_ns);
    const auto longer = static_cast<double>(comm_ns) * (1 - 1 / factor);
    const std::int64_t first = 1000 + std::llround(longer);
    last = last == kNoNode ? run.add(0, 0, start, first) : run.add_after(last, 0, 0, start, first);
    last = run.add_after(last, 0, 0, start + 5000, 700);
  }
  return run.finish();
}
Contention contention_in(const JobRun& run) {
  return {run, test::counted_steps(run), run.activities_by_rank()};
}
Candidates contention_of(const std::vector<std::int64_t>& collectives_ns, double factor) {
  const JobRun run = overlapped_gemms(collectives_ns, factor);
  return contention_candidates(run, test::counted_steps(run), contention_in(run));
}

TEST(GemmContention, IsTheTimeUnderACollectiveAtTheSamePlace) {
  const Candidates found = contention_of({0, 100, 800, 0, 400, 600, 0, 900}, 1.2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].cause.percent, 20, 0.1);
  EXPECT_NEAR(found[0].cause.percent_low, 20, 0.3);
  EXPECT_NEAR(found[0].cause.percent_high, 20, 0.3);
  ASSERT_EQ(found[0].durations.size(), 5U); // the counted steps in which a collective runs
  for (const auto& [node, dur] : found[0].durations)
    EXPECT_NEAR(static_cast<double>(dur), 1000, 1) << node;
}

TEST(GemmContention, FollowsTheOverlapInTheReplay) {
  const JobRun run = overlapped_gemms({0, 100, 800, 0, 400, 600, 0, 900}, 1.2);
  const Contention contention = contention_in(run);
  JobEdit edit = JobEdit::of(run.graph);
  contention.settle(edit);
  EXPECT_EQ(edit.dur_ns, JobEdit::of(run.graph).dur_ns);
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.activity(n).kind == ActivityKind::kCollective)
      edit.dur_ns[n] = 0;
  contention.settle(edit);
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.activity(n).kind == ActivityKind::kKernel && run.graph.dur_ns(n) >= 1000) {
      EXPECT_NEAR(static_cast<double>(edit.dur_ns[n]), 1000, 5) << n;
    }
}

TEST(GemmContention, IsNotKnownWhereTheOverlapIsAlwaysTheSame) {
  EXPECT_TRUE(contention_of({900, 900, 900, 900, 900, 900}, 1.2).empty());
}

TEST(GemmContention, IsNotThereWhereOverlapCostsNothing) {
  EXPECT_TRUE(contention_of({0, 100, 800, 0, 400, 600, 0, 900}, 1).empty());
}

// After slow GEMMs without overlap, the last GEMM starts later, and less of it overlaps.
TEST(GemmContention, IsNotMadeOfTheNoiseOfGemmsWithoutOverlap) {
  const HandActivity gemm = {ActivityKind::kKernel, "nvjet_tst_128x256_64x4", "aten::mm"};
  int found = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> duration_ns(1000, 10);
    HandMadeRun run(1, {gemm, {ActivityKind::kCollective, "ncclDevKernel_AllReduce"}});
    NodeId last = kNoNode;
    for (std::int64_t step = 0; step < 90; ++step) {
      run.begin_step(step);
      std::int64_t at = 20'000 * step;
      run.alone(0, at + 5150, 1750); // overlaps the sixth GEMM and half of the seventh
      for (int k = 0; k < 7; ++k) {
        const std::int64_t dur = std::llround(duration_ns(random));
        at += k == 5 ? 400 : 0;
        last = last == kNoNode ? run.add(0, 0, at, dur) : run.add_after(last, 0, 0, at, dur);
        at += dur;
      }
    }
    const JobRun finished = run.finish();
    found += contention_in(finished).found() ? 1 : 0;
  }
  EXPECT_LE(found, 2);
}

TEST(SmallCollectives, PayTheirLatencyOnceInARow) {
  HandMadeRun run(2, {{ActivityKind::kCollective, "ncclDevKernel_AllReduce"}});
  SmallTransfers row{"allreduce", 4096, {}, {20'000, 20'000, 20'000}};
  for (const std::int64_t start : {0, 100'000, 200'000})
    row.transfers.push_back(run.collective({start, start + 5'000}, start + 35'000));
  const JobRun made = run.finish();
  for (std::vector<NodeId>& members : row.transfers) // finish() may have renumbered them
    members = made.collectives[static_cast<std::size_t>(&members - row.transfers.data())].transfers;
  const Candidates found = small_collective_candidates({made, {}}, {&row, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(found[0].cause.latency_us, 20);
  EXPECT_EQ(found[0].nodes.size(), 6U);
  ASSERT_EQ(found[0].durations.size(), 4U); // without the first collective
  for (const auto& [node, dur] : found[0].durations)
    EXPECT_EQ(dur, 10'000) << node; // of 30 us after the last arrival
}

Candidates optimizer_loops_of(const std::vector<HandActivity>& activities) {
  return of_rule(CauseRule::kOptimizerLoop, in_order(activities), host_candidates);
}
/// The kernels of an update of `count` tensors, each by four operators.
std::vector<HandActivity> updates(std::size_t count) {
  std::vector<HandActivity> out;
  for (std::size_t k = 0; k < count; ++k)
    for (const auto& [op, shapes] : {std::pair("aten::mul_", "[[1000], []]"),
                                     std::pair("aten::addcmul_", "[[1000], [1000], "
                                                                 "[1000]]"),
                                     std::pair("aten::sqrt", "[[1000]]"),
                                     std::pair("aten::addcdiv_", "[[1000], [1000], "
                                                                 "[1000]]")})
      out.push_back({ActivityKind::kKernel, "vectorized", op, "Optimizer.step#AdamW.step", shapes,
                     R"(["float", "float", "float"])"});
  return out;
}

TEST(SlowLink, MakesOnlyItsSlowTransfersShorter) {
  HandMadeRun hand_made(2, {{ActivityKind::kCollective, "AllReduce"}});
  const std::size_t transfers = hand_made.collective({0, 0}, 100'000).size();
  hand_made.collective({200'000, 200'000}, 500'000);
  JobRun run = hand_made.finish();
  run.collectives[0].bus_gbps = 310; // a little above the usual value
  run.collectives[1].bus_gbps = 100;
  SlowTransfers slow;
  slow.ranks = {0, 1};
  slow.gbps = 205; // the mean
  slow.usual_gbps = 300;
  for (const JobCollective& collective : run.collectives)
    slow.nodes.insert(slow.nodes.end(), collective.transfers.begin(), collective.transfers.end());
  const std::optional<GpuArch> arch;
  const Candidates found = link_candidates(CauseInput{run, arch}, {&slow, 1});
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].durations.size(), 2 * transfers);
  for (const auto& [node, dur] : found[0].durations)
    EXPECT_EQ(dur, 100'000) << run.graph.dur_ns(node);
}

TEST(OptimizerLoop, IsBoundByOneKernelThatReadsEachGradientAndWritesEachParameter) {
  const Candidates found = optimizer_loops_of(updates(13));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.kind, GainKind::kAtMost);
  ASSERT_EQ(found[0].durations.size(), 52U);
  // the four kernels of a tensor read or write 2 + 4 + 2 + 4 tensors; one kernel reads two and
  // writes one
  EXPECT_EQ(found[0].durations[0].second, 52 * kKernelNs * 3 / 12);
  for (std::size_t k = 1; k < 52; ++k)
    EXPECT_EQ(found[0].durations[k].second, 0) << k;
}

TEST(OptimizerLoop, HasAtLeast50KernelsThatAreNotFused) {
  EXPECT_TRUE(optimizer_loops_of(updates(12)).empty());
  std::vector<HandActivity> fused = updates(13);
  fused.push_back(fused.front());
  fused.back().name = "multi_tensor_apply_kernel<FusedAdamMathFunctor>";
  EXPECT_TRUE(optimizer_loops_of(fused).empty());
}

/// Returns the causes where a call waits for a kernel and the next kernel is launched after it.
/// `event`: a stream waits for an event between the launches.
Candidates stream_waits(bool event) {
  HandMadeRun hand(1, {{ActivityKind::kHost, "", "aten::bincount"},
                       {ActivityKind::kKernel, "histogram", "aten::bincount"},
                       {ActivityKind::kCall, "cudaStreamSynchronize"},
                       {ActivityKind::kCall, "cudaStreamWaitEvent"},
                       {ActivityKind::kHost, "", "aten::mm"},
                       {ActivityKind::kKernel, "gemm", "aten::mm"}});
  const NodeId launch = hand.add(0, 0, 0, 10);
  const NodeId kernel = hand.add(0, 1, 10, 1'000);
  hand.wait(kernel, launch, WaitKind::kLaunch);
  const NodeId call = hand.add(0, 2, 1'010, 5);
  hand.wait(call, kernel, WaitKind::kBlocking);
  if (event)
    hand.add(0, 3, 1'015, 5);
  const NodeId next_launch = hand.add(0, 4, 1'020, 10);
  const NodeId next = hand.add(0, 5, 1'030, 500);
  hand.wait(next, next_launch, WaitKind::kLaunch);
  hand.wait(next, kernel, WaitKind::kOtherStream);
  return of_rule(CauseRule::kStreamWait, hand.finish(), host_candidates);
}

TEST(StreamWait, NeedsThatNoEventOrdersTheStreams) {
  const Candidates found = stream_waits(false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause.what, "aten::bincount");
  EXPECT_EQ(found[0].cause.kind, GainKind::kAtMost);
  EXPECT_EQ(found[0].nodes, std::vector<NodeId>{1});
  EXPECT_EQ(found[0].unblocked, std::vector<NodeId>{2});
  EXPECT_EQ(found[0].unordered, std::vector<NodeId>{4});
  EXPECT_TRUE(stream_waits(true).empty());
}

TEST(Checkpoint, HasItsCopies) {
  constexpr const char* kSave = "torch/serialization.py(884): save";
  const JobRun run = in_order({{ActivityKind::kCall, "cudaMemcpyAsync", "aten::copy_", kSave},
                               {ActivityKind::kHost, kSave, "", ""}});
  const Candidates found = of_rule(CauseRule::kCheckpoint, run, host_candidates);
  ASSERT_EQ(found.size(), 1U); // however short they are
  EXPECT_EQ(found[0].durations.size(), 2U);
  EXPECT_EQ(found[0].cause.what, kSave);

  HandMadeRun copies(
      1, {{ActivityKind::kCopy, "Memcpy DtoH (Device -> Pageable)", "aten::copy_", kSave}});
  copies.add(0, 0, 0, kKernelNs);
  const JobRun copied = copies.finish();
  EXPECT_EQ(of_rule(CauseRule::kCheckpoint, copied, host_candidates).size(), 1U);
}

/// Returns the causes on rank 3 of four, where a product takes 13 us instead of 10. `mul_ns`: the
/// time of another operator there; 700 on its peers, 6.5 % of the time.
Candidates slow_rank_with(std::int64_t mul_ns) {
  HandMadeRun hand(4, {pointwise("aten::mm"), pointwise("aten::mul")});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::int64_t mm_ns = rank == 3 ? 13'000 : 10'000;
    const NodeId mm = hand.add(rank, 0, 0, mm_ns);
    hand.add_after(mm, rank, 1, mm_ns, rank == 3 ? mul_ns : 700);
  }
  const JobRun run = hand.finish();
  const std::vector<std::uint32_t> slow{3};
  const std::vector<OutstandingRank> ranks{{3, 0, 1}};
  const std::optional<GpuArch> arch;
  return rank_candidates(CauseInput{run, arch}, ranks, PeerPlaces(run, slow));
}

// An operator with little of the time counts as much as one with most of it.
TEST(SlowGpu, IsSlowerInEveryOperator) {
  const Candidates gpu = slow_rank_with(910);
  ASSERT_EQ(gpu.size(), 1U);
  EXPECT_EQ(gpu[0].cause.rule, CauseRule::kSlowGpu);
  EXPECT_NEAR(gpu[0].cause.percent, 30, 1e-9);
  const Candidates product = slow_rank_with(700);
  ASSERT_EQ(product.size(), 1U);
  EXPECT_EQ(product[0].cause.rule, CauseRule::kSlowOperator);
  EXPECT_EQ(product[0].cause.what, "aten::mm");
  EXPECT_NEAR(product[0].cause.percent, 30, 1e-9);
}

/// Four ranks with a product, another kernel of `mul_ns` and a collective in each of 12 steps. Rank
/// 3 takes 15 % longer in the last `slow_steps`.
JobRun slow_in_some_steps(std::int64_t mul_ns, std::uint32_t slow_steps) {
  constexpr std::uint32_t kRanks = 4, kSteps = 12;
  constexpr std::int64_t kMmNs = 10'000'000, kStepNs = 20'000'000;
  HandMadeRun hand(
      kRanks,
      {pointwise("aten::mm"), pointwise("aten::mul"), {ActivityKind::kCollective, "allreduce"}});
  std::vector<NodeId> last;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    hand.begin_step(step);
    const std::int64_t begin = step * kStepNs;
    std::vector<NodeId> before;
    std::vector<std::int64_t> arrivals;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const std::int64_t percent = rank == 3 && step >= kSteps - slow_steps ? 115 : 100;
      const std::int64_t mm_ns = kMmNs * percent / 100;
      const NodeId mm = last.empty() ? hand.add(rank, 0, begin, mm_ns)
                                     : hand.add_after(last[rank], rank, 0, begin, mm_ns);
      before.push_back(hand.add_after(mm, rank, 1, begin + mm_ns, mul_ns * percent / 100));
      arrivals.push_back(begin + (kMmNs + mul_ns) * percent / 100);
    }
    last = hand.collective(arrivals, begin + kStepNs, before);
  }
  return hand.finish();
}

// It was called slow in one operator, with the kernel that takes 94 % of the time.
TEST(SlowGpu, IsSlowerInEveryOperatorOfSomeSteps) {
  const std::vector<std::uint32_t> slow{3};
  const std::vector<OutstandingRank> ranks{{3, 0, 8}};
  const std::optional<GpuArch> arch;
  for (const std::int64_t mul_ns : {638'000, 3'514'000}) { // 6 and 26 % of the time
    const JobRun run = slow_in_some_steps(mul_ns, 8);
    const Candidates found = rank_candidates(CauseInput{run, arch}, ranks, PeerPlaces(run, slow));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].cause.rule, CauseRule::kSlowGpu);
    EXPECT_EQ(found[0].cause.confidence, Confidence::kSure);
    EXPECT_TRUE(found[0].cause.alike);
    EXPECT_NEAR(found[0].cause.percent, 10, 1e-6); // 15 % in 8 of 12 steps
  }
}

// It was "in 11 of 11 steps". A rank that is a cause was also called "not significant".
TEST(SlowGpu, IsSeenInTheStepsInWhichItIsSlower) {
  for (const std::uint32_t slow_steps : {8U, 5U}) {
    RunSuspects suspects;
    suspects.ranks = {{3, 0, slow_steps}};
    suspects.unclear = {{3, 1, 0, 2}, {2, 1, 0, 2}};
    const CauseFacts facts =
        causes_of(slow_in_some_steps(638'000, slow_steps), std::nullopt, std::move(suspects));
    ASSERT_EQ(facts.causes.size(), 1U);
    EXPECT_EQ(facts.causes[0].rule, CauseRule::kSlowGpu);
    EXPECT_EQ(facts.causes[0].ranks, std::vector<std::int64_t>{3});
    EXPECT_EQ(facts.causes[0].steps_seen, slow_steps);
    EXPECT_EQ(facts.causes[0].steps, 11U);
    ASSERT_EQ(facts.unclear_ranks.size(), 1U);
    EXPECT_EQ(facts.unclear_ranks[0].rank, 2);
  }
}

} // namespace
} // namespace rankscope
