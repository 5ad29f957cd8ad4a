// Tests options of the single-trace report with handmade traces: overlap with other kernels, call
// stacks, pseudo operators, combinations of options.
#include "analyses/analysis.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/pseudo_ops.h"
#include "analyses/sweep/sweep_facts.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

std::size_t row_of(const Table& table, std::string_view name) {
  for (std::size_t r = 0; r < table.rows(); ++r)
    if (table.at(r, "name").text == name)
      return r;
  ADD_FAILURE() << "no row " << name << " in " << table.name();
  return 0;
}

struct Run {
  double start, end;
  int stream;
  const char* op;
};

/// Returns overlap_pct of each operator; -1: blank.
std::vector<double> overlaps(const std::vector<Run>& kernels, std::vector<const char*> ops) {
  TraceBuilder b;
  double at = 0;
  for (const char* op : ops) {
    b.op(op, at, 100);
    double call = at + 1;
    for (const Run& k : kernels)
      if (std::string_view(k.op) == op)
        b.kernel(std::string("kernel_") + op, call += 2, k.start, k.end - k.start, k.stream);
    at += 100;
  }
  const LoadedTrace t = b.load();
  ReportOptions options;
  options.include_overlap_info = true;
  auto report = build_report(t, options);
  EXPECT_TRUE(report);
  std::vector<double> out;
  for (const char* sheet : {"ops_unique_args_kl_overlap", "unified_perf_summary_kl_overlap"}) {
    const Table* table = report->find(sheet);
    if (table == nullptr) {
      ADD_FAILURE() << sheet;
      return {};
    }
    std::vector<double> found;
    for (const char* op : ops) {
      const Value v = table->at(row_of(*table, op), "overlap_pct");
      found.push_back(v.is_null() ? -1 : v.number());
    }
    if (!out.empty()) {
      EXPECT_EQ(out, found) << sheet;
    }
    out = found;
  }
  return out;
}

using V = std::vector<double>;

TEST(OverlapInfo, SharesOfMergedKernelTimeByHand) {
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1050, 1200, 8, "b"}}, {"a", "b"}), (V{.5, .33}));
  EXPECT_EQ(overlaps({{1000, 1200, 7, "a"}, {1050, 1100, 8, "b"}}, {"a", "b"}), (V{.25, 1}));
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1000, 1100, 8, "b"}}, {"a", "b"}), (V{1, 1}));
  EXPECT_EQ(
      overlaps({{1000, 1100, 7, "a"}, {1200, 1300, 7, "a"}, {1050, 1150, 8, "b"}}, {"a", "b"}),
      (V{.25, .5}));
  EXPECT_EQ(
      overlaps({{1000, 1100, 7, "a"}, {1200, 1300, 7, "a"}, {1050, 1250, 8, "b"}}, {"a", "b"}),
      (V{.5, .5}));
  EXPECT_EQ(
      overlaps({{1000, 1200, 7, "a"}, {1050, 1100, 8, "b"}, {1150, 1250, 9, "c"}}, {"a", "b", "c"}),
      (V{.5, 1, .5}));
}

TEST(OverlapInfo, WhatIsNoOverlap) {
  // adjacent; same stream; under 1 us; exactly 1 us; without a stream; same operator
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1100, 1200, 8, "b"}}, {"a", "b"}), (V{-1, -1}));
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1050, 1200, 7, "b"}}, {"a", "b"}), (V{-1, -1}));
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1099.001, 1200, 8, "b"}}, {"a", "b"}), (V{-1, -1}));
  EXPECT_EQ(overlaps({{1000, 1100, 7, "a"}, {1099, 1200, 8, "b"}}, {"a", "b"}), (V{.01, .01}));
  EXPECT_EQ(overlaps({{1000, 1100, -1, "a"}, {1050, 1200, -1, "b"}}, {"a", "b"}), (V{.5, .33}));
  EXPECT_EQ(
      overlaps({{1000, 1100, 7, "a"}, {1050, 1200, 8, "a"}, {2000, 2100, 7, "b"}}, {"a", "b"}),
      (V{-1, -1}));
}

TEST(OverlapInfo, CallsAreGroupedByWhatRanBeside) {
  TraceBuilder b; // three calls of one operator: without overlap, overlapping x, overlapping x
  for (int i = 0; i < 3; ++i) {
    b.op("aten::mm", 100 * i, 50).kernel("gemm", 100 * i + 1, 1000 + 1000 * i, 100, 7);
    if (i > 0)
      b.op("other", 100 * i + 60, 20).kernel("x", 100 * i + 61, 1000 + 1000 * i + 20 * i, 40, 8);
  }
  const LoadedTrace t = b.load();
  ReportOptions options;
  auto report = build_report(t, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->find("ops_unique_args_kl_overlap"), nullptr);
  EXPECT_EQ(report->find("ops_unique_args")->rows(), 2U);
  options.include_overlap_info = true;
  report = build_report(t, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tables[4].name(), "ops_unique_args_kl_overlap");
  const Table& table = report->tables[4];
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.at(0, "operation_count").i, 2); // 200 us of kernels
  EXPECT_EQ(table.at(0, "overlap_pct").number(), .4);
  EXPECT_EQ(table.at(0, "trunc_overlapping_kernels_details").text,
            "[{'name': 'x', 'stream': 8, 'mean_duration_us': 40.0, 'overlap_pct': 0.4}]");
  EXPECT_TRUE(table.at(1, "overlap_pct").is_null()); // 100 us, without overlap
  EXPECT_EQ(table.at(1, "operation_count").i, 1);
}

TEST(CallStack, OutermostFirstAndTheFrameOfTheUsersCode) {
  TraceBuilder b;
  b.frame("train.py(10): step", 0, 100)
      .frame("nn.Module: Linear_0", 1, 90)
      .frame("torch/nn/modules/linear.py(125): forward", 2, 80)
      .op("aten::mm", 3, 50)
      .kernel("gemm", 4, 200, 10);
  ReportOptions options;
  options.include_call_stack = true;
  auto report = build_report(b.load(true), options);
  ASSERT_TRUE(report);
  const Table* table = report->find("unified_perf_summary");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->at(0, "call_stack_full").text, "['train.py(10): step', 'nn.Module: Linear_0', "
                                                  "'torch/nn/modules/linear.py(125): forward']");
  EXPECT_EQ(table->at(0, "entry_point").text, "train.py(10): step");
  EXPECT_TRUE(report->diagnostics.empty());
  // backward work on another thread has the frames of its forward operator
  TraceBuilder bwd;
  bwd.frame("train.py(10): step", 0, 100)
      .op("aten::mm", 3, 50, R"({"Sequence number":7})")
      .kernel("gemm", 4, 200, 10)
      .op("autograd::engine::evaluate_function: MmBackward0", 300, 50, R"({"Sequence number":7})",
          2)
      .op("MmBackward0", 301, 45, "{}", 2)
      .kernel("gemm_bwd", 302, 500, 30, 7, 2);
  const auto both = build_report(bwd.load(true), options);
  ASSERT_TRUE(both);
  const Table* both_summary = both->find("unified_perf_summary");
  EXPECT_EQ(both_summary->at(row_of(*both_summary, "MmBackward0"), "entry_point").text,
            "train.py(10): step");
  // without frames: blank, with a note
  report = build_report(b.load(false), options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->find("unified_perf_summary")->at(0, "call_stack_full").is_null());
  EXPECT_FALSE(report->diagnostics.empty());
}

/// Returns the rows of unified_perf_summary: name and number of calls.
std::map<std::string, std::int64_t> operators(const LoadedTrace& t) {
  ReportOptions options;
  options.enable_pseudo_ops = true;
  auto report = build_report(t, options);
  EXPECT_TRUE(report);
  std::map<std::string, std::int64_t> out;
  const Table* table = report->find("unified_perf_summary");
  for (std::size_t r = 0; r < table->rows(); ++r)
    out[std::string(table->at(r, "name").text)] += table->at(r, "operation_count").i;
  return out;
}
using Counts = std::map<std::string, std::int64_t>;

TEST(PseudoOps, ExpertsOfVllm) {
  const char* const args =
      R"({"Input Dims":[[2,4],[6,6,4],[6,4,3],[2,2]],"Input type":["c10::BFloat16","c10::BFloat16",)"
      R"("c10::BFloat16","float"],"Sequence number":5})";
  TraceBuilder b;
  b.op("vllm::moe_forward", 0, 100)
      .op("vllm::rocm_aiter_fused_moe", 10, 80, args)
      .kernel("ck_tile::MoeSortingKernel", 12, 200, 5)
      .kernel("void aiter::fmoe_bf16_g1u1", 20, 210, 50)
      .kernel("aiter::fmoe_quant", 30, 270, 5);
  const LoadedTrace t = b.load();
  const auto with = operators(t);
  EXPECT_EQ(with.at("pseudo_op::moe_aiter_fused_1stage"), 1);
  ReportOptions options;
  options.enable_pseudo_ops = true;
  auto report = build_report(t, options);
  ASSERT_TRUE(report);
  const Table* table = report->find("unified_perf_summary");
  const std::size_t r = row_of(*table, "pseudo_op::moe_aiter_fused_1stage");
  EXPECT_EQ(table->at(r, "GFLOPS").number(), 312e-9);
  EXPECT_EQ(table->at(r, "Kernel Time (\u00b5s)_sum").number(), 50);
  EXPECT_GE(table->at(r, "ex_UID").i, static_cast<std::int64_t>(t.trace.events_in_file));
  double kernels = 0; // no kernel is lost or counted twice
  for (std::size_t i = 0; i < table->rows(); ++i)
    kernels += table->at(i, "Kernel Time (\u00b5s)_sum").number();
  EXPECT_EQ(kernels, 60);
  options.enable_pseudo_ops = false; // the trace is unchanged
  report = build_report(t, options);
  ASSERT_TRUE(report);
  for (std::size_t i = 0; i < report->find("ops_summary")->rows(); ++i)
    EXPECT_EQ(report->find("ops_summary")->at(i, "name").text.find("pseudo"),
              std::string_view::npos);

  TraceBuilder triton;
  triton.op("vllm::moe_forward", 0, 100)
      .kernel("_matmul_ogs_down", 30, 300, 10) // launched first, runs last
      .kernel("_matmul_ogs_up", 40, 200, 10)
      .kernel("topk", 50, 150, 10);
  const auto two = operators(triton.load());
  EXPECT_EQ(two.at("pseudo_op::moe_triton_unfused_up"), 1);
  EXPECT_EQ(two.at("pseudo_op::moe_triton_unfused_down"), 1);

  TraceBuilder awq;
  awq.op("vllm::outplace_fused_experts", 0, 100);
  for (int i = 0; i < 3; ++i)
    awq.kernel("fused_moe_kernel_gptq_awq", 10 + 10 * i, 200 + 20 * i, 10);
  const auto three = operators(awq.load());
  EXPECT_EQ(three.at("pseudo_op::moe_gptq_awq_up"), 1);
  EXPECT_EQ(three.at("pseudo_op::moe_gptq_awq_down"), 2);
}

TEST(PseudoOps, StagesAndFramesOfAiter) {
  TraceBuilder b;
  b.op("aiter::fused_moe_", 0, 100)
      .frame("aiter/ops/flydsl/moe.py(7): flydsl_moe_stage1", 10, 20)
      .kernel("stage1", 12, 200, 10)
      .frame("aiter/ops/flydsl/moe.py(99): flydsl_moe_stage2", 40, 20)
      .kernel("stage2", 42, 220, 10);
  EXPECT_EQ(operators(b.load(true)).at("pseudo_op::moe_flydsl_stage1"), 1);
  EXPECT_EQ(operators(b.load(true)).at("pseudo_op::moe_flydsl_stage2"), 1);
  EXPECT_EQ(operators(b.load(false)).count("pseudo_op::moe_flydsl_stage1"), 0U); // requires frames

  TraceBuilder mla;
  mla.frame("aiter/mla.py(80): mla_decode_fwd", 0, 100)
      .op("aiter::mla_decode_stage1_asm_fwd", 10, 20)
      .kernel("mla_stage1", 12, 200, 10)
      .op("triton_reduce", 40, 20)
      .kernel("mla_stage2", 42, 220, 10);
  EXPECT_EQ(operators(mla.load(true)), (Counts{{"pseudo_mla_decode_fwd", 1}}));
}

TEST(PseudoOps, NumbersOfTheSglangProfiler) {
  TraceBuilder b;
  for (int i = 0; i < 2; ++i)
    b.op("sglang_profiler::norm_" + std::to_string(17 + i), 100 * i, 50)
        .kernel("k", 100 * i + 1, 1000 + 100 * i, 10);
  b.op("other::norm_3", 300, 50).kernel("k", 301, 2000, 10);
  EXPECT_EQ(operators(b.load()), (Counts{{"sglang_profiler::norm", 2}, {"other::norm_3", 1}}));
}

TEST(ReportOptions, DoNotMixOnOneTrace) {
  TraceBuilder b;
  b.frame("torch/utils/checkpoint.py(5): recompute_fn", 0, 100)
      .op("aten::mm", 1, 50)
      .kernel("gemm", 2, 200, 10)
      .op("aten::mm", 200, 50)
      .kernel("gemm", 201, 300, 10);
  const LoadedTrace t = b.load(true);
  ReportOptions plain;
  ReportOptions recompute;
  recompute.detect_recompute = true;
  for (int i = 0; i < 2; ++i) {
    auto a = build_report(t, plain);
    auto r = build_report(t, recompute);
    ASSERT_TRUE(a && r);
    EXPECT_EQ(a->find("ops_summary")->rows(), 1U);
    EXPECT_EQ(r->find("ops_summary")->rows(), 2U);
    EXPECT_EQ(a->find("unified_perf_summary")->rows(), 1U);
    EXPECT_EQ(r->find("unified_perf_summary")->rows(), 2U);
  }
}

TEST(ReportOptions, NumberOfKernelsAsAKey) {
  TraceBuilder b;
  b.op("aten::sum", 0, 50).kernel("k", 1, 200, 10);
  b.op("aten::sum", 100, 50).kernel("k", 101, 300, 10).kernel("k2", 110, 320, 10);
  const LoadedTrace t = b.load();
  ReportOptions options;
  EXPECT_EQ(build_report(t, options)->find("ops_unique_args")->rows(), 1U);
  options.group_by_num_kernels = true;
  const auto report = build_report(t, options);
  for (const char* sheet : {"ops_unique_args", "unified_perf_summary"}) {
    const Table* table = report->find(sheet);
    ASSERT_EQ(table->rows(), 2U) << sheet;
    EXPECT_EQ(table->at(0, "num_kernels").i, 2); // 20 us
    EXPECT_EQ(table->at(1, "num_kernels").i, 1);
  }
}

TEST(ReportOptions, LegacyColumnsStandAtTheirLetters) {
  TraceBuilder b;
  b.op("aten::mm", 0, 50,
       R"({"Input Dims":[[4,8],[8,6]],"Input type":["float","float"],"Input Strides":[[8,1],[6,1]]})")
      .kernel("Cijk_Ailk_Bljk_SB_MT64x64x16", 1, 200, 10);
  ReportOptions options;
  options.legacy_gemm_layout = true;
  auto report = build_report(b.load(), options);
  ASSERT_TRUE(report);
  const Table* gemm = report->find("GEMM");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->columns()[23].name.find("kernel"), 0U) << gemm->columns()[23].name; // column X
  EXPECT_EQ(gemm->columns()[32].name, "Kernel Time (\u00b5s)_min");                   // column AG
  EXPECT_EQ(gemm->columns()[33].name, "Kernel Time (\u00b5s)_max");                   // column AH
  options.top_k_roofline_ops = 1;
  EXPECT_EQ(build_report(b.load(), options)->find("GEMM")->rows(), 1U);
}

TEST(ReportOptions, CallsThatFitNoModelHaveARowPerShape) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) // (4) x (3, i / 2 + 1): not matrices
    b.op("aten::mm", 100 * i, 50,
         R"({"Input Dims":[[4],[3,)" + std::to_string(i / 2 + 1) +
             R"(]],"Input type":["float","float"],"Input Strides":[[8,1],[6,1]]})")
        .kernel("gemm", 100 * i + 1, 1000 + 100 * i, 10 + i);
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  const Table* gemm = report->find("GEMM");
  ASSERT_EQ(gemm->rows(), 2U);
  EXPECT_EQ(gemm->at(0, "Input Dims_first").text, "[[4], [3, 2]]");
  EXPECT_EQ(gemm->at(0, "name_count").i, 2);
  EXPECT_TRUE(gemm->at(0, "GFLOPS_first").is_null());
  EXPECT_EQ(gemm->at(0, "Kernel Time (\u00b5s)_sum").number(), 25);
}

TEST(ReportOptions, ASequenceNumberAloneMakesNoOtherOperator) {
  TraceBuilder b;
  b.op("aten::foo", 0, 50, R"({"Sequence number":5})").kernel("k", 1, 1000, 10);
  b.op("aten::foo", 100, 50).kernel("k", 101, 2000, 20);
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  for (const char* sheet : {"ops_unique_args", "unified_perf_summary"}) {
    ASSERT_EQ(report->find(sheet)->rows(), 1U) << sheet;
    EXPECT_EQ(report->find(sheet)->at(0, "operation_count").i, 2) << sheet;
  }
}

TEST(ReportOptions, ASequenceNumberAloneMakesNoOtherRowOfAFamily) {
  TraceBuilder b;
  b.op("aten::sum", 0, 50, R"({"Sequence number":5})").kernel("k", 1, 1000, 10);
  b.op("aten::sum", 100, 50).kernel("k", 101, 2000, 20);
  const auto report = build_report(b.load(), {});
  ASSERT_TRUE(report);
  ASSERT_NE(report->find("Reduce_fwd"), nullptr);
  ASSERT_EQ(report->find("Reduce_fwd")->rows(), 1U);
  EXPECT_EQ(report->find("Reduce_fwd")->at(0, "name_count").i, 2);
}

TEST(ReportOptions, KernelsOfNoOperatorAreToldApartByProcess) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (const char* pid : {"1", "2"})
    text += std::string(R"({"ph":"M","name":"process_name","ts":0,"pid":)") + pid +
            R"(,"tid":0,"args":{"name":"python )" + pid + R"("}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":)" +
            pid + R"(,"tid":1,"ts":10,"dur":1,"args":{"correlation":)" + pid + R"(}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2)" +
            pid + R"(,"dur":1,"args":{"device":0,"stream":7,"correlation":)" + pid + "}},\n";
  text.resize(text.size() - 2);
  const test::TempFolder folder;
  const auto loaded = load_trace(folder.write("t.json", text + "]}"), {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto report = build_report(*loaded, {});
  ASSERT_TRUE(report);
  const Table* unified = report->find("unified_perf_summary");
  ASSERT_NE(unified, nullptr);
  ASSERT_EQ(unified->rows(), 2U);
  EXPECT_EQ(unified->at(0, "name").text, "hipLaunchKernel->k (Synthetic Op)");
  EXPECT_EQ(unified->at(0, "process_name").text, "python 1");
  EXPECT_EQ(unified->at(1, "process_name").text, "python 2");
}

TEST(ReportOptions, RowsOfEachFamilyAreCut) {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i)
    b.op("aten::mm", 100 * i, 50,
         R"({"Input Dims":[[4,8],[8,)" + std::to_string(i + 1) +
             R"(]],"Input type":["float","float"],"Input Strides":[[8,1],[6,1]]})")
        .kernel("gemm", 100 * i + 1, 1000 + 100 * i, 10 + i);
  const LoadedTrace t = b.load();
  ReportOptions options;
  EXPECT_EQ(build_report(t, options)->find("GEMM")->rows(), 5U);
  options.top_k_roofline_ops = 2;
  const auto report = build_report(t, options);
  EXPECT_EQ(report->find("GEMM")->rows(), 2U);
  // of the longest kernel
  EXPECT_EQ(report->find("GEMM")->at(0, "Kernel Time (\u00b5s)_sum").number(), 14);
  EXPECT_EQ(report->find("unified_perf_summary")->rows(), 5U);
}

TEST(GemmNames, ReportAndSweepTakeTheSameKernels) {
  constexpr const char* kCustom = "Custom_Cijk_Alik_Bljk_BBS_BH_Bias_AS_SAV_MT256x256x64_MI16x16x1";
  constexpr const char* kOther = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc";
  const LoadedTrace t = TraceBuilder()
                            .op("compiled", 0, 50)
                            .kernel(kCustom, 1, 100, 20)
                            .kernel(kOther, 5, 200, 20)
                            .load();
  const auto report = build_report(t, {});
  ASSERT_TRUE(report);
  const Table* const sheet = report->find("GEMM_kernels");
  ASSERT_NE(sheet, nullptr);
  ASSERT_EQ(sheet->rows(), 1U);
  EXPECT_EQ(sheet->at(0, 0).text, kCustom);
  const RankRecord record = make_record(t, ReportOptions{});
  ASSERT_EQ(record.gemm_kernels.size(), 1U);
  EXPECT_EQ(record.gemm_kernels.begin()->first, kCustom);
}

TEST(OperatorArguments, WhiteSpaceOfTheFileMakesNoOtherRow) {
  TraceBuilder b;
  double at = 0;
  for (const char* dims : {"[[2, 3], [3, 4]]", "[[2,3],[3,4]]", "[ [2,3 ],\n[3,4]]"}) {
    b.op("aten::mm", at, 50,
         std::string(R"({"Input Dims":)") + dims + R"(,"Input type":["float","float"]})");
    b.kernel("gemm", at + 1, at + 1000, 20);
    at += 100;
  }
  const LoadedTrace t = b.load();
  const auto report = build_report(t, {});
  ASSERT_TRUE(report);
  const Table* const table = report->find("ops_unique_args");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows(), 1U);
  EXPECT_EQ(table->at(0, "Input Dims").text, "((2, 3), (3, 4))");
  const Table* const gemm = report->find("GEMM");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->rows(), 1U);
}

} // namespace
} // namespace rankscope
