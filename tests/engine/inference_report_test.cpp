// Tests reports of handmade serving traces: call stacks, parent modules, pseudo operators, chosen
// steps.
#include "analyses/analysis.h"
#include "analyses/inference/step_windows.h"
#include "analyses/operators/call_stacks.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/operators/parent_modules.h"
#include "analyses/operators/pseudo_ops.h"
#include "analyses/operators/unified_perf.h"
#include "analyses/timeline/inference_steps.h"
#include "trace_builder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

using Names = std::vector<std::string>;
using test::TraceBuilder;

EventId find(const LoadedTrace& t, std::string_view name) {
  for (EventId e = 0; e < t.trace.events.size(); ++e)
    if (t.trace.name(e) == name)
      return e;
  ADD_FAILURE() << "no " << name;
  return kNoEvent;
}

const char* const kShapes = R"({"Input Dims":[[4,8],[8,2]],"Input type":["float","float"]})";

/// Returns a layer: two operators of attention below its frame, and one product directly below the
/// module.
LoadedTrace layer() {
  return TraceBuilder()
      .frame("vllm/model.py(10): forward", 0, 200)
      .frame("nn.Module: Layer_3", 5, 190)
      .frame("torch/nn/modules/module.py(1): _call_impl", 6, 188)
      .op("vllm::attn", 10, 80)
      .frame("vllm/attn.py(5): attn", 12, 76)
      .op("aten::mm", 20, 30, kShapes)
      .kernel("gemm_12", 25, 300, 10)
      .op("aten::add_", 55, 15)
      .kernel("add", 60, 320, 10)
      .op("triton_k_7", 100, 20)
      .kernel("triton_k_7", 105, 340, 10)
      .load(true);
}

TEST(CallStacks, ChainsOfAnOperatorsKernels) {
  const LoadedTrace t = layer();
  const EventId kernels[] = {find(t, "gemm_12"), find(t, "add")};
  const CallChain chain = call_chain(t, find(t, "vllm::attn"), kernels);
  EXPECT_EQ(chain.common, (Names{"vllm/model.py(10): forward", "nn.Module: Layer",
                                 "torch/nn/modules/module.py(1): _call_impl", "vllm::attn",
                                 "vllm/attn.py(5): attn"}));
  EXPECT_EQ(chain.rests, (std::vector<Names>{{"aten::mm", "gemm_12"}, {"aten::add_", "add"}}));
  EXPECT_EQ(chain.text(),
            "['vllm/model.py(10): forward', 'nn.Module: Layer', "
            "'torch/nn/modules/module.py(1): _call_impl', 'vllm::attn', 'vllm/attn.py(5): attn', "
            "['aten::mm', 'gemm_12'], ['aten::add_', 'add']]");
  // below the operator: the frame with the same name
  EXPECT_EQ(entry_point(chain, "vllm::attn"), "vllm/attn.py(5): attn");
  const CallChain single = call_chain(t, find(t, "aten::mm"), {kernels, 1});
  EXPECT_TRUE(single.rests.empty());
  EXPECT_EQ(single.common.back(), "gemm_12");                          // kernel names are unchanged
  EXPECT_EQ(entry_point(single, "aten::mm"), "vllm/attn.py(5): attn"); // above the operator
  EXPECT_EQ(call_chain(t, find(t, "aten::mm"), {}).text(), "Not found");
}

// The frames above are searched, without the call of the module. The kernel at the end has the name
// of the operator.
TEST(CallStacks, WrappersAreNoEntryPoint) {
  const LoadedTrace t = layer();
  EventId op = kNoEvent;
  EventId kernel = kNoEvent;
  for (EventId e = 0; e < t.trace.events.size(); ++e)
    if (t.trace.name(e) == "triton_k_7")
      (t.trace.gpu(e) ? kernel : op) = e;
  const CallChain chain = call_chain(t, op, {&kernel, 1});
  EXPECT_EQ(chain.common[3], "triton_k"); // operator name without its number
  EXPECT_EQ(entry_point(chain, "triton_k_7"), "vllm/model.py(10): forward");
  EXPECT_EQ(entry_point(chain, "other"), "Not found");
}

// As recorded, with the frame of the model.
TEST(CallStacks, FramesAboveAnOperator) {
  const LoadedTrace t = layer();
  const EventId kernels[] = {find(t, "gemm_12"), find(t, "add")};
  const PythonStack attention = python_stack(t, find(t, "vllm::attn"), kernels);
  EXPECT_EQ(attention.text, "['vllm/model.py(10): forward', 'nn.Module: Layer_3', "
                            "'torch/nn/modules/module.py(1): _call_impl']");
  // below the operator, with the same name
  EXPECT_EQ(attention.entry_point, "vllm/attn.py(5): attn");
  EXPECT_EQ(python_stack(t, find(t, "vllm::attn"), {}).entry_point, "vllm/model.py(10): forward");
  EXPECT_EQ(python_stack(t, find(t, "aten::mm"), {kernels, 1}).entry_point,
            "vllm/attn.py(5): attn"); // above the operator
  const LoadedTrace other = TraceBuilder()
                                .frame("torch/a.py(1): f", 0, 100)
                                .frame("<eval_with_key>.2(4): forward", 1, 90)
                                .op("x::y", 10, 50)
                                .kernel("k", 20, 200, 5)
                                .load(true);
  EXPECT_EQ(python_stack(other, find(other, "x::y"), {}).entry_point,
            // no frame belongs to the model: the innermost is used
            "<eval_with_key>.2(4): forward");
}

TEST(CallStacks, ChainsTwiceTheSameAreOne) {
  const LoadedTrace t =
      TraceBuilder().op("op", 0, 50).kernel("k", 10, 100, 5).kernel("k", 20, 110, 5).load(true);
  std::vector<EventId> kernels;
  for (EventId e = 0; e < t.trace.events.size(); ++e)
    if (t.trace.gpu(e))
      kernels.push_back(e);
  const CallChain chain = call_chain(t, find(t, "op"), kernels);
  EXPECT_EQ(chain.text(), "['op', 'k', []]"); // the format of the reference: one empty rest
}

TEST(ParentModules, TheInnermostOrAll) {
  EXPECT_EQ(without_numbers("nn.Module: A_3_12_b_4x"), "nn.Module: A_bx");
  EXPECT_EQ(without_numbers("_7_"), "_");
  const LoadedTrace t = TraceBuilder()
                            .frame("nn.Module: Block_1", 0, 100)
                            .frame("nn.Module: Linear_35", 5, 40)
                            .op("aten::mm", 10, 20, kShapes)
                            .kernel("g", 12, 200, 8)
                            .op("aten::mm", 60, 20, kShapes)
                            .kernel("g", 62, 210, 2)
                            .op("aten::mm", 120, 20, kShapes)
                            .kernel("g", 122, 220, 1)
                            .load(true);
  ReportOptions options;
  options.group_by_parent_module = true;
  std::map<std::string, std::string> stacks;
  for (const OpsSummaryRow& row : t.shared(OpsSummaryKey{options}))
    stacks[row.parent_module] = row.call_stack;
  EXPECT_EQ(stacks,
            (std::map<std::string, std::string>{
                {"nn.Module: Linear", "['aten::mm', 'nn.Module: Linear_35', 'nn.Module: Block_1']"},
                {"nn.Module: Block", "['aten::mm', 'nn.Module: Block_1']"},
                {"NA", "['aten::mm']"}}));
  options.module_path = true;
  EXPECT_EQ(t.shared(OpsSummaryKey{options})[0].parent_module, "nn.Module: Block / Linear");
  const auto report = build_report(t, options);
  ASSERT_TRUE(report);
  const Table& unique = *report->find("ops_unique_args");
  EXPECT_EQ(unique.rows(), 3U);
  EXPECT_EQ(unique.columns()[2].name, "parent_module");
  const Table& categories = *report->find("ops_summary_by_category");
  EXPECT_EQ(categories.rows(), 3U);
  EXPECT_EQ(categories.columns()[3].name, "call_stack_first");
}

LoadedTrace triton_moe() {
  return TraceBuilder()
      .op("vllm::moe_forward", 0, 100, R"({"Input Dims":[[2,4],[2,6]],"Input type":["float"]})")
      .kernel("_matmul_ogs_bf16xmxfp4_swiglu", 10, 200, 5)
      .kernel("_matmul_ogs_bf16xmxfp4", 20, 210, 6)
      .kernel("_finalize_matmul_scatter", 30, 220, 7)
      .load();
}

std::map<std::string, double> kernel_times(const LoadedTrace& t, bool compat) {
  ReportOptions options;
  options.compat_tracelens = compat;
  std::map<std::string, double> out;
  for (const OpsSummaryRow& row : t.shared(OpsSummaryKey{options}))
    out[row.name] = row.direct_ns;
  return out;
}

TEST(PseudoOps, TheScatterOfTheTritonExperts) {
  const LoadedTrace t = with_pseudo_ops(triton_moe(), false);
  EXPECT_EQ(*t.pseudo_ops, 3U);
  EXPECT_EQ(kernel_times(t, false),
            (std::map<std::string, double>{
                {"pseudo_op::moe_triton_unfused_up", 5000},
                {"pseudo_op::moe_triton_unfused_down", 6000},
                {"pseudo_op::moe_triton_unfused_finalize_matmul_scatter", 7000}}));
  // in the reference, the launches still belong to the operator above
  const LoadedTrace compat = with_pseudo_ops(triton_moe(), true);
  EXPECT_EQ(kernel_times(compat, true),
            (std::map<std::string, double>{{"vllm::moe_forward", 18000}}));
  ReportOptions options;
  options.compat_tracelens = true;
  const auto& rows = compat.shared(UnifiedPerfKey{options});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows.size(), 3U);
  EXPECT_EQ(rows->rows[0].op.name, "pseudo_op::moe_triton_unfused_finalize_matmul_scatter");
  EXPECT_EQ(rows->rows[0].cpu_us.sum, 0);
  EXPECT_TRUE(std::isnan(rows->rows[0].cpu_us.mean)); // has neither start nor end
}

TEST(PseudoOps, LatentAttentionInsideItsFrame) {
  const LoadedTrace t = with_pseudo_ops(TraceBuilder()
                                            .frame("aiter/mla.py(9): mla_decode_fwd", 0, 100)
                                            .frame("aiter/x.py(1): call", 5, 50)
                                            .op("aiter::mla_decode_stage1_asm_fwd", 10, 20, kShapes)
                                            .kernel("mla", 15, 200, 5)
                                            .op("aten::add_", 60, 10)
                                            .kernel("add", 62, 210, 3)
                                            .load(true),
                                        false);
  const EventId pseudo = find(t, "pseudo_mla_decode_fwd");
  EXPECT_EQ(t.trace.name(t.tree.parent(pseudo)), "aiter/mla.py(9): mla_decode_fwd");
  EXPECT_EQ(t.tree.gpu_events(pseudo).size(), 2U); // everything that the frame called
  EXPECT_EQ(t.tree.children(pseudo).size(), 2U);
  ASSERT_EQ(t.tree.cpu_roots().size(), 1U); // the operators below are not roots any more
  EXPECT_EQ(t.tree.cpu_roots()[0], pseudo);
  EXPECT_EQ(t.trace.op(pseudo)->input_dims,
            t.trace.op(find(t, "aiter::mla_decode_stage1_asm_fwd"))->input_dims);
}

/// Returns the attention layer of a V4 model with paged decode; `compress` is another kernel of the
/// layer.
LoadedTrace v4_layer(const std::string& compress) {
  LoadedTrace t =
      TraceBuilder()
          .annotation(
              "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk16384sqsq4sqsk16384)", 0,
              100)
          .op("aiter::v4_attention_with_output", 5, 90,
              R"({"Input Dims":[[4,16384]],"Input type":["c10::BFloat16"]})")
          .kernel("qk_norm_rope_H64_D512_RD64_flydsl", 8, 200, 2)
          .kernel(compress, 10, 210, 2)
          .frame("atom/paged_decode.py(7): sparse_attn_v4_paged_decode", 20, 50)
          .op("aiter::decode", 25, 30)
          .kernel("paged", 30, 220, 10)
          .load(true);
  add_pseudo_ops(t, false);
  return t;
}

// The mean context is 16384 / 4 = 4096. Windows W are 128, 128 + min(1024, 512) and 128 + 32; each
// of the 4 tokens attends to W keys: flops = 64 (512 + 512) 2 4 W, bytes = 4 1024 (64 + 1) 2 + (4 W
// - 4) 1024 2
TEST(PseudoOps, PagedDecodeOfV4ByTheKindOfItsLayer) {
  const std::pair<const char*, std::pair<const char*, double>> cases[] = {
      {"_swa_write_kernel", {"pseudo_v4_paged_decode_swa", 128}},
      {"fused_compress_attn_D512", {"pseudo_v4_paged_decode_csa", 640}},
      {"hca_compress_forward_D512", {"pseudo_v4_paged_decode_hca", 160}}};
  for (const auto& [kernel, want] : cases) {
    const LoadedTrace t = v4_layer(kernel);
    const EventId pseudo = find(t, want.first);
    ASSERT_NE(pseudo, kNoEvent) << kernel;
    EXPECT_EQ(t.trace.name(t.tree.parent(pseudo)),
              "atom/paged_decode.py(7): sparse_attn_v4_paged_decode");
    const OpInfo* op = find_op(want.first);
    ASSERT_NE(op, nullptr);
    OpCosts costs(false);
    const PerfResult* cost = costs.call_cost(t, pseudo, *op, t.tree.gpu_events(pseudo));
    ASSERT_NE(cost, nullptr);
    EXPECT_DOUBLE_EQ(cost->flops, 64.0 * 1024 * 2 * 4 * want.second) << kernel;
    EXPECT_DOUBLE_EQ(cost->bytes, 4.0 * 1024 * 65 * 2 + (4 * want.second - 4) * 1024 * 2) << kernel;
  }
  LoadedTrace more = v4_layer("fused_compress_attn_D512");
  more.attention.sparse_topk = 1024;
  const EventId pseudo = find(more, "pseudo_v4_paged_decode_csa");
  OpCosts costs(false);
  const PerfResult* cost = costs.call_cost(more, pseudo, *find_op("pseudo_v4_paged_decode_csa"),
                                           more.tree.gpu_events(pseudo));
  EXPECT_DOUBLE_EQ(cost->flops, 64.0 * 1024 * 2 * 4 * (128 + 1024));
}

// Two requests that decode after 1000 tokens each. Layers alternate between a window of 128 keys
// and all keys.
TEST(AttentionWindows, LayerByLayer) {
  constexpr const char* kStep =
      "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk2000sqsq2sqsk2000)";
  constexpr const char* kArgs =
      R"({"Input Dims":[[2,4,64],[2,1,64],[2,1,64]],"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16"]})";
  const char* const name = "vllm::unified_attention_with_output";
  TraceBuilder b;
  for (int step = 0; step < 2; ++step) {
    b.annotation(kStep, 100.0 * step, 90);
    for (int layer = 0; layer < 3; ++layer)
      b.op(name, 100.0 * step + 10 * layer + 5, 5, kArgs)
          .kernel("k", 100.0 * step + 10 * layer + 6, 1000.0 + 100 * step + 20 * layer, 10);
  }
  LoadedTrace t = b.load();
  t.attention.layer_windows = {128, 0};
  OpCosts costs(false);
  std::vector<double> flops;
  for (EventId i = 0; i < t.trace.events.size(); ++i)
    if (t.trace.name(i) == name)
      flops.push_back(costs.call_cost(t, i, *find_op(name), t.tree.gpu_events(i))->flops);
  const double all = 4 * 128 * 2 * 2000.0;
  const double near = 4 * 128 * 2 * 256.0;
  EXPECT_EQ(flops, (std::vector<double>{near, all, near, near, all, near}));
}

/// Returns the parents, children and GPU work of every event as text.
std::string drawing(const LoadedTrace& t) {
  std::string out;
  const auto list = [&out](std::span<const EventId> events) {
    out += "(";
    for (const EventId e : events)
      out += std::to_string(e) + " ";
    out += ") ";
  };
  for (EventId e = 0; e < t.trace.events.size(); ++e) {
    out += std::to_string(t.tree.parent(e)) + " ";
    list(t.tree.children(e));
    list(t.tree.gpu_events(e));
    out += "\n";
  }
  list(t.tree.cpu_roots());
  return out;
}

TEST(TreeChanges, NoneLeavesTheTreeAsItWas) {
  // with an operator that ends after its parent and therefore is not in the tree, and an operator
  // without GPU work
  LoadedTrace t = TraceBuilder()
                      .frame("f", 0, 500)
                      .op("a", 10, 100)
                      .op("b", 20, 200)
                      .kernel("x", 30, 400, 5)
                      .kernel("y", 215, 410, 5)
                      .op("c", 300, 10)
                      .op("d", 350, 10, "{}", 2)
                      .kernel("z", 352, 420, 5, 7, 2)
                      .load(true);
  const std::string before = drawing(t);
  t.tree.change(t.trace, {});
  EXPECT_EQ(drawing(t), before);
  EXPECT_EQ(t.tree.linked_count(), 3U);
}

// Two steps. A kernel that the first step launched runs while the second step is annotated.
TEST(ServingSteps, AReportOfOnePhase) {
  const auto load = [] {
    return TraceBuilder()
        .annotation("execute_context_2(50)_generation_0(0)", 0, 100)
        .op("aten::mm", 10, 20, kShapes)
        .kernel("prefill", 12, 150, 30)
        .annotation("execute_context_0(0)_generation_2(2)", 100, 100)
        .op("aten::mm", 110, 20, kShapes)
        .kernel("decode", 112, 190, 3)
        .op("aten::mm", 250, 20, kShapes)
        .kernel("outside", 252, 290, 3)
        .load();
  };
  StepChoice choice;
  choice.phase = StepPhase::kPrefill;
  std::string said;
  auto part = part_of_choice(load(), choice, {}, said);
  ASSERT_TRUE(part) << part.error().message();
  EXPECT_EQ(said, "1 of 2 annotated steps, 1 to 1");
  Names kernels;
  for (EventId e = 0; e < part->trace.events.size(); ++e)
    if (part->trace.gpu(e))
      kernels.emplace_back(part->trace.name(e));
  EXPECT_EQ(kernels, Names{"prefill"});
  EXPECT_EQ(part->tree.linked_count(), 1U);
  choice.phase = StepPhase::kMixed;
  const auto none = part_of_choice(load(), choice, {}, said);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_NE(none.error().message().find("1 prefill, 0 mixed, 1 decode"), std::string::npos)
      << none.error().message();
}

TEST(ServingSteps, TheInnermostOneAroundAnOperator) {
  const LoadedTrace t = TraceBuilder()
                            .annotation("execute_context_0(0)_generation_9(9)", 0, 100)
                            .annotation("execute_context_0(0)_generation_1(1)", 10, 20)
                            .annotation("execute_context_0(0)_generation_", 40, 20)
                            .op("in", 15, 2)
                            .op("behind", 50, 2)
                            .op("outside", 150, 2)
                            .load();
  const InferenceSteps& steps = t.shared(InferenceStepsKey{});
  const auto at = [&](const char* op) {
    return t.trace.strings.view(steps.at(t.trace, find(t, op)));
  };
  EXPECT_EQ(at("in"), "execute_context_0(0)_generation_1(1)");
  EXPECT_EQ(at("behind"), "execute_context_0(0)_generation_9(9)"); // the inner step has ended
  EXPECT_EQ(at("outside"), "");
}

// A short prefill annotation does not have all sums, but the decode steps must not be discarded for
// that.
TEST(ServingSteps, ShortAnnotationsOfSglangAreOfOneTier) {
  const LoadedTrace t = TraceBuilder()
                            .annotation("step[EXTEND bs=2 toks=14720]", 0, 100)
                            .annotation("step[DECODE bs=2]", 200, 100)
                            .op("prompts", 15, 2)
                            .op("token", 250, 2)
                            .load();
  EXPECT_EQ(annotated_steps(t.trace).size(), 2U);
  const InferenceSteps& steps = t.shared(InferenceStepsKey{});
  const auto at = [&](const char* op) {
    return t.trace.strings.view(steps.at(t.trace, find(t, op)));
  };
  EXPECT_EQ(at("prompts"), "step[EXTEND bs=2 toks=14720]");
  EXPECT_EQ(at("token"), "step[DECODE bs=2]");
}

} // namespace
} // namespace rankscope
