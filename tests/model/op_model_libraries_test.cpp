// Tests cost models of training and inference libraries with hand-calculated values, and the
// annotations of inference steps.
#include "model/ops/op_model.h"
#include "model/step_annotation.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace rankscope {
namespace {

const char* const kB = "c10::BFloat16";
const char* const kF8 = "c10::Float8_e4m3fn";
const char* const kF4 = "c10::Float4_e2m1fn_x2";

/// Returns ["a", "b", ...]; an empty text is an argument without a type.
std::string list(std::initializer_list<const char*> texts) {
  std::string out = "[";
  for (const char* t : texts)
    out += (out.size() > 1 ? ", \"" : "\"") + std::string(t) + "\"";
  return out + "]";
}

struct Case {
  const char* op;
  const char* dims;
  std::string types;
  std::string concrete;
  double flops, bytes;
  ModelHints hints = {};
  bool compat = false;
};

void expect(const Case& c) {
  SCOPED_TRACE(std::string(c.op) + (c.compat ? " compat" : ""));
  const OpInfo* op = find_op(c.op);
  ASSERT_NE(op, nullptr);
  EXPECT_TRUE(has_formula(*op));
  const auto r = evaluate(*op, ParsedArgs(c.dims, c.types, "", c.concrete), c.hints, c.compat);
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->flops, c.flops);
  EXPECT_DOUBLE_EQ(r->bytes, c.bytes);
}

TEST(LibraryModels, EveryOperatorButTheNamedOnesHasAFormula) {
  std::set<std::string_view> without;
  for (const OpInfo& op : modelled_ops())
    if (!has_formula(op))
      without.insert(op.model);
  const std::set<std::string_view> known = {"InstanceNormBwd"};
  EXPECT_EQ(without, known);
}

TEST(LibraryModels, Gemm) {
  const std::string bf16 = list({kB, kB});
  expect({"aiter::gemm_a8w8_ck", "[[64, 7168], [2112, 7168]]", list({kF8, kF8}), "[]",
          2.0 * 64 * 2112 * 7168, 64.0 * 7168 + 2112.0 * 7168 + 2 * 64 * 2112});
  // x, w, bias: N more numbers are read, and M N more additions
  expect({"aiter::gemm_a16w16", "[[4, 8], [6, 8], [6]]", list({kB, kB, kB}), "[]",
          2.0 * 4 * 6 * 8 + 4 * 6, 2.0 * (32 + 48 + 24 + 6)});
  // two values per byte: K = 64; 4 rows of 32 bytes, 6 rows of 32 bytes, 24 results of two bytes
  expect({"aiter::gemm_afp4wfp4_", "[[4, 32], [6, 32]]", list({kF4, kF4}), "[]", 2.0 * 4 * 6 * 64,
          4 * 32 + 6 * 32 + 24 * 2});
  // the same with one scale byte for 32 values
  expect({"aiter::gemm_a4w4", "[[4, 32], [6, 32], [4, 2], [6, 2]]",
          list({kF4, kF4, "c10::Float8_e8m0fnu", "c10::Float8_e8m0fnu"}), "[]", 2.0 * 4 * 6 * 64,
          388});
  expect({"primus_turbo::hipblaslt_gemm_fp4", "[[4, 32], [4, 2], [6, 32], [6, 2], []]",
          list({kF4, "unsigned char", kF4, "unsigned char"}),
          list({"", "", "", "", "", "0", "1", "0"}), 3072, 388});
  expect({"primus_turbo::hipblaslt_gemm_fp8", "[[4, 32], [], [6, 32], [], []]",
          list({kF8, "float", kF8, "float"}), list({"", "", "", "", "", "False", "True", "False"}),
          2.0 * 4 * 6 * 32, 4 * 32 + 6 * 32 + 24 * 2});
  // 3 batches of (2, 8) x (5, 8) FP4 pairs
  expect({"aiter::batched_gemm_a16wfp4_", "[[3, 2, 16], [3, 5, 8]]", list({kB, "unsigned char"}),
          "[]", 3 * 2.0 * 2 * 5 * 16, 3 * (2 * 16 * 2 + 5 * 16 * 0.5 + 2 * 5 * 2)});
}

TEST(LibraryModels, GroupedGemm) {
  const std::string bf16 = list({kB, kB});
  expect({"primus_turbo::grouped_gemm", "[[8, 4], [2, 4, 3], [2]]", bf16, "[]", 192, 160});
  expect({"primus_turbo::grouped_gemm", "[[8, 4], [2, 3, 4], [2]]", bf16, "[]", 192, 160});
  // lists of matrices: (2,4)x(4,3) and (6,4)x(4,3) are the same amount of work
  expect({"primus_turbo::grouped_gemm", "[[[2, 4], [6, 4]], [[4, 3], [4, 3]]]", list({kB, kB}),
          "[]", 192, 160});
  // the weight gradient of 10 rows: 2 * 10 * 4 * 3
  expect({"primus_turbo::grouped_gemm_variable_k", "[[10, 4], [10, 3]]", bf16, "[]", 240,
          2.0 * (10 * 4 + 4 * 3 + 10 * 3)});
}

TEST(LibraryModels, PackedAttention) {
  // 100 tokens in 3 sequences; the longest has 60: 60 + 2 x 20
  const char* const dims = "[[100, 2, 8], [100, 2, 8], [100, 2, 8], [4], [4], [], [], [], [], []]";
  const std::string types = list({kB, kB, kB});
  const auto concrete = [](const char* causal) {
    return list({"", "", "", "", "", "60", "60", "0.", "0.35", causal});
  };
  double pairs = 0;
  for (const int n : {60, 20, 20})
    for (int q = 0; q < n; ++q)
      for (int k = 0; k < n; ++k)
        pairs += 1;
  expect({"flash_attn::_flash_attn_varlen_forward", dims, types, concrete("False"),
          pairs * 2 * 2 * 16, 2.0 * 4 * 100 * 2 * 8});
  expect({"flash_attn::_flash_attn_varlen_forward", dims, types, concrete("True"),
          pairs * 2 * 2 * 16 / 2, 2.0 * 4 * 100 * 2 * 8});
  // 3 sequences of 5 residues, 2 heads of 4: 3*2*25 pairs, 8 flops for QK and 8 for PV
  expect({"EvoformerAttention", "[[1, 3, 5, 2, 4], [1, 3, 5, 2, 4], [1, 3, 5, 2, 4]]", types, "[]",
          150 * 16.0, 4 * 120 * 2.0});
}

TEST(LibraryModels, AttentionBackwardWithSharedHeads) {
  // q (1, 64, 4, 8), k and v (1, 64, 2, 8); dout is the first of these arguments
  constexpr double kPairs = 4 * 64 * 64, kShared = 64 * 8 * 1 * 2;
  constexpr double kFlops = 2 * kPairs * 8 * 5 + kShared;
  constexpr double kBytes = 2.0 * (3 * 64 * 4 * 8 + 4 * 64 * 2 * 8);
  const std::string q = "[1, 64, 4, 8]", k = "[1, 64, 2, 8]";
  const std::string tensors = q + ", " + q + ", " + k + ", " + k + ", " + q + ", [1, 4, 64]";
  const std::string dims = "[" + tensors + "]", shifted = "[[], " + tensors + "]";
  const std::string types = list({kB, kB, kB, kB, kB}), all = list({"", kB, kB, kB, kB});
  const auto at = [](std::size_t causal, const char* flag) {
    std::string out = "[";
    for (std::size_t i = 0; i < causal; ++i)
      out += "\"\", ";
    return out + '"' + flag + "\"]";
  };
  for (const auto& [flag, half] : {std::pair("False", 1.0), {"True", 0.5}}) {
    expect({"flash_attn::_flash_attn_backward", dims.c_str(), types, at(11, flag), kFlops * half,
            kBytes});
    expect(
        {"aiter::_flash_attn_backward", dims.c_str(), types, at(12, flag), kFlops * half, kBytes});
    expect({"aiter::mha_bwd", dims.c_str(), types, at(8, flag), kFlops * half, kBytes});
    expect(
        {"aiter::wrapper_fmha_v3_bwd", shifted.c_str(), all, at(9, flag), kFlops * half, kBytes});
  }
}

TEST(LibraryModels, AttentionInASlidingWindow) {
  const char* const dims = "[[1, 64, 2, 8], [1, 64, 2, 8], [1, 64, 2, 8]]";
  const std::string types = list({kB, kB, kB});
  const auto flops = [&](const char* causal, const char* left, const char* right) {
    const OpInfo& op = *find_op("flash_attn::_flash_attn_forward");
    const auto r = evaluate(
        op, ParsedArgs(dims, types, "", list({"", "", "", "0.", "0.35", causal, left, right})), {},
        false);
    EXPECT_TRUE(r);
    return r ? r->flops : 0;
  };
  const auto counted = [](int left, int right) {
    double out = 0;
    for (int q = 0; q < 64; ++q)
      for (int k = 0; k < 64; ++k)
        if (q - k <= left && k - q <= right)
          out += 2 * 2 * 16;
    return out;
  };
  constexpr double kAll = 2 * 2 * 16 * 64 * 64;
  EXPECT_DOUBLE_EQ(flops("True", "15", "0"), counted(15, 0));
  EXPECT_DOUBLE_EQ(flops("True", "15", "-1"), counted(15, 0));
  EXPECT_DOUBLE_EQ(flops("False", "15", "3"), counted(15, 3));
  EXPECT_DOUBLE_EQ(flops("False", "-1", "3"), counted(64, 3));
  EXPECT_DOUBLE_EQ(flops("False", "-1", "-1"), kAll);
  EXPECT_DOUBLE_EQ(flops("True", "-1", "-1"), kAll / 2);
  EXPECT_DOUBLE_EQ(flops("True", "4095", "0"), kAll / 2); // longer than the sequence
  EXPECT_DOUBLE_EQ(flops("False", "", "0."), kAll);       // no window is recorded
}

TEST(LibraryModels, FusedConvolutionReadsPaddingThenStride) {
  // x (1, 2, 8, 8), w (3, 2, 3, 3), padding 0, stride 2: 3x3 outputs with 3 channels
  const char* const dims = "[[1, 2, 8, 8], [3, 2, 3, 3], [1, 3, 1, 1], [], []]";
  const std::string concrete = list({"", "", "", "0", "2"});
  expect({"ConvBias_", dims, list({kB, kB, kB}), concrete, 2 * 18.0 * 27 + 27,
          2.0 * (128 + 54 + 27 + 3)});
  // the reference uses 0 as the stride, so the call does not match the model
  const OpInfo* op = find_op("ConvBias_");
  EXPECT_FALSE(evaluate(*op, ParsedArgs(dims, list({kB, kB, kB}), "", concrete), {}, true));
}

TEST(LibraryModels, MixtureOfExperts) {
  // T=2, K=4, N=3, 6 experts, 2 of them per token, gated, bf16: experts with work 6 (1 - (4/6)^2)
  const double active = 6 * (1 - 16.0 / 36);
  const std::string bf16 = list({kB, kB, kB, "float"});
  const char* const dims = "[[2, 4], [6, 6, 4], [6, 4, 3], [2, 2]]";
  expect({"pseudo_op::moe_aiter_fused_1stage", dims, bf16, "[]", 312,
          2 * 4 * 4 + active * (6 * 4 + 4 * 3) * 2});
  expect({"pseudo_op::moe_flydsl_stage1", dims, bf16, "[]", 2 * 2.0 * 4 * 3 * 2 * 2,
          2 * 4 * 2 + active * 6 * 4 * 2 + 2 * 3 * 2 * 2});
  expect({"pseudo_op::moe_flydsl_stage1",
          dims,
          bf16,
          "[]",
          2 * 2.0 * 4 * 3 * 2 * 2,
          2 * 4 * 2 + active * 6 * 4 * 2 + 2 * 3 * 2 * 2,
          {},
          true});
  expect({"pseudo_op::moe_flydsl_stage2", dims, bf16, "[]", 2 * 2.0 * 4 * 3 * 2,
          2 * 3 * 2 * 2 + active * 4 * 3 * 2 + 2 * 4 * 2});
  // the same first projection, calculated from x, w1 and y (T, k, N)
  expect({"aiter::moe_cktile2stages_gemm1_ck", "[[2, 4], [6, 6, 4], [2, 2, 3]]", list({kB, kB, kB}),
          "[]", 2 * 2.0 * 4 * 3 * 2 * 2, 2 * 4 * 2 + active * 6 * 4 * 2 + 2 * 3 * 2 * 2});
  expect({"aiter::moe_cktile2stages_gemm2_ck", "[[2, 2, 3], [6, 4, 3], [2, 4]]", list({kB, kB, kB}),
          "[]", 2 * 2.0 * 4 * 3 * 2, 2 * 3 * 2 * 2 + active * 4 * 3 * 2 + 2 * 4 * 2});
  expect({"aiter::fmoe_g1u1", "[[2, 4], [2, 4], [6, 6, 4], [6, 4, 3], [], [], [], [], []]",
          list({kB, kF8, kF8, kF8}), list({"", "", "", "", "", "", "", "", "2"}), 312,
          2 * 4 * (1 + 2) + active * (24 + 12)});
  // 4-bit weights: (E, 2N, K/2) and (E, K, N/2)
  const char* const packed = "[[2, 4], [6, 8, 2], [6, 4, 2], [], [2, 2]]";
  const std::string types = list({kB, "unsigned char", "unsigned char", "", "int"});
  expect({"pseudo_op::moe_gptq_awq_up", packed, types, "[]", 2 * 2.0 * 4 * 4 * 2 * 2,
          2 * 4 * 2 + active * 8 * 4 * 0.5 + 2 * 4 * 2 * 2});
  expect({"pseudo_op::moe_gptq_awq_down", packed, types, "[]", 2 * 2.0 * 4 * 4 * 2,
          2 * 4 * 2 * 2 + active * 4 * 4 * 0.5 + 2 * 4 * 2});
  // weight type from the kernel's name, N = K = 4
  ModelHints hints;
  hints.kernel = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x256x128_swiglu";
  hints.topk = 2;
  expect({"pseudo_op::moe_triton_unfused_up", "[[2, 4], [2, 6]]", list({kB, kB}), "[]",
          2 * 2.0 * 4 * 4 * 2 * 2, 2 * 4 * 2 + active * 2 * 4 * 4 * 0.5 + 2 * 4 * 2 * 2, hints});
  expect({"pseudo_op::moe_triton_unfused_down", "[[2, 4], [2, 6]]", list({kB, kB}), "[]",
          2 * 2.0 * 4 * 4 * 2, 2 * 4 * 2 * 2 + active * 4 * 4 * 0.5 + 2 * 4 * 2, hints});
  // one launch for all (token, expert) pairs: w (6, 6, 4), ids (2, 2)
  expect({"sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel",
          "[[2, 4], [6, 6, 4], [], [2, 2, 6], [], [], [], [], [2, 2]]",
          list({kB, kB, "", kB, "", "", "", "", "int"}), "[]", 2.0 * 4 * 6 * 4,
          4 * 4 * 2 + active * 24 * 2 + 4 * 6 * 2});
}

TEST(LibraryModels, Routing) {
  // logits (8, 64), bias (64), weights and ids (8, 4): 4 experts are chosen for each of 8 tokens
  expect({"aiter::biased_grouped_topk_hip", "[[8, 64], [64], [8, 4], [8, 4]]",
          list({kB, kB, "float", "int"}), "[]", 32, 2 * (512 + 64) + 32 * 4 + 32 * 4});
  expect({"aiter::moe_sorting_fwd", "[[8, 4], [8, 4], [100]]", list({"int", "float", "int"}), "[]",
          100, 4.0 * (32 + 32 + 100)});
  expect({"aiter::topk_softplus", "[[8, 4], [8, 4], [8, 64]]", list({"float", "int", kB}), "[]",
          6 * 512, 512 * 2 + 4 * 64 + 8 * 8 * 4});
}

TEST(LibraryModels, NormsWithResidualAndQuantisation) {
  const double n = 4 * 512;
  const double rms = 4 * 1026 + 2 * n;
  expect(
      {"aiter::rms_norm", "[[4, 512], [512], []]", list({kB, kB}), "[]", rms, 2 * n * 2 + 512 * 2});
  expect({"aiter::add_rmsnorm", "[[4, 512], [4, 512], [4, 512], [4, 512], [512]]",
          list({kB, kB, kB, kB, kB}), "[]", rms + n, 4 * n * 2 + 512 * 2});
  // FP8 output with one float per 128 values: 4 per row
  expect({"vllm::rocm_aiter_rmsnorm_fp8_group_quant", "[[4, 512], [512], [], []]", list({kB, kB}),
          list({"", "", "1e-06", "128"}), rms + 2 * n, n * 2 + 512 * 2 + n + 4 * 4 * 4});
  expect({"aiter::fused_add_rmsnorm_pad_", "[[4, 500], [500], [], [4, 500], []]",
          list({kB, kB, "", kB}), list({"", "", "1e-6", "", "256"}), 4 * 1002 + 2 * 2000 + 2000,
          2000 * 2 + 500 * 2 + 2 * 2000 * 2 + 2000 * 2 + 4 * 12 * 2});
  expect({"aiter::_fuse_rmsnorm_fp4_quant", "[[4, 512], [512], []]", list({kB, kB}), "[]",
          rms + 2 * n, n * 2 + 512 * 2 + n / 2 + n / 32});
  expect({"primus::fused_ln_modulate", "[[3, 2, 8], [2, 8], [2, 8]]", list({kB, kB, kB}), "[]",
          12 * 48, 2 * (48 + 16) * 2 + 8 * 6});
  // (4, 8) with weight: 2 + 6 + 2 FLOPs per element
  const char* const grad = "[[4, 8], [4, 8], [], [4, 1], [8], []]";
  const std::string types = list({kB, kB, "", "float", kB});
  expect({"aten::_fused_rms_norm_backward", grad, types,
          list({"", "", "[8]", "", "", "[True, True]"}), 320, (3 * 32 + 2 * 8) * 2});
  expect({"aten::_fused_rms_norm_backward", grad, types,
          list({"", "", "[8]", "", "", "[True, False]"}), 32 * (2 + 6), (3 * 32 + 2 * 8) * 2});
}

TEST(LibraryModels, SmallKernels) {
  expect(
      {"_C_custom_ar::all_reduce", "[[], [8, 4], [8, 4]]", list({"", kB, kB}), "[]", 0, 2.0 * 64});
  expect({"aiter::reduce_scatter", "[[], [8, 4], [2, 4]]", list({"", kB, kB}), "[]", 0,
          2.0 * (32 + 8)});
  expect({"aiter::silu_and_mul", "[[4, 256], [4, 512]]", list({kB, kB}), "[]", 5 * 1024,
          3 * 1024 * 2});
  expect({"aiter::gelu_and_mul", "[[4, 256], [4, 512]]", list({kB, kB}), "[]", 8 * 1024,
          3 * 1024 * 2});
  expect({"aiter::dynamic_per_token_scaled_quant", "[[4, 256], [4, 256], [4]]",
          list({kF8, kB, "float"}), "[]", 2.59375 * 1024, 1024 + 2048 + 16});
  expect({"vllm::triton_per_token_group_quant_fp8", "[[4, 256], []]", list({kB, "Scalar"}),
          list({"", "64"}), 6 * 1024, 3 * 1024 + 4 * 4 * 4});
  expect({"sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant", "[[4, 256]]", list({kB}),
          "[]", 2 * 1024, 2048 + 512 + 32});
  expect({"primus_turbo::quantize_fp8_tensorwise", "[[4, 256]]", list({kB}), "[]", 1024, 3 * 1024});
  expect({"primus::quantize_mxfp4_dual", "[[64, 32]]", list({kB}), "[]", 2048,
          4096 + 2 * 1024 + 64 + 32 * 2});
  expect({"sgl_kernel::rotary_embedding", "[[3], [3, 64], [3, 16], [], [100, 8]]",
          list({"long int", kB, kB, "", "float"}), list({"", "", "", "16"}), 3.0 * 3 * (4 + 1) * 8,
          2 * 2.0 * 3 * 5 * 8});
  expect({"sglang::store_cache", "[[3, 4], [3, 4], [9, 4], [9, 4]]", list({kB, kB, kB, kB}), "[]",
          0, 4 * 12 * 2});
  expect({"aiter::mixed_sample_outer_exponential", "[[2], [2, 100], [2, 100]]",
          list({"int", kB, "float"}), "[]", 400, 200 * 6 + 8});
  // output (2, 3, 4), x (2, 4), residual (2, 3, 4), mixes (2, 3) and (2, 3, 3)
  expect({"aiter::mhc_post", "[[2, 3, 4], [2, 4], [2, 3, 4], [2, 3, 1], [2, 3, 3]]",
          list({kB, kB, kB, "float", "float"}), "[]", 2.0 * 2 * 3 * 4 * 4,
          2 * (8 + 48) + 4 * (6 + 18)});
}

ModelHints during(std::string_view annotation) {
  ModelHints h;
  h.annotation = annotation;
  return h;
}

TEST(LibraryModels, AttentionInAnAnnotatedStep) {
  const char* const decode =
      "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)";
  const char* const dims = "[[64, 8, 128], [64, 1, 128], [64, 1, 128]]";
  const std::string types = list({kB, kB, kB});
  const double flops = 2.0 * 8 * 256 * 131072;
  const double bytes = (64.0 * (8 + 8 + 1 + 1) * 128 + (131072 - 64) * 2.0 * 128) * 2;
  expect({"vllm::unified_attention_with_output", dims, types, "[]", flops, bytes, during(decode)});
  expect({"vllm::unified_attention_with_output", dims, types, "[]", flops, bytes, during(decode),
          true});
  // 2 requests with 3 new tokens after 5 old ones: each new token attends to the old tokens and to
  // half of its own chunk
  double pairs = 0;
  for (int request = 0; request < 2; ++request)
    for (int q = 0; q < 3; ++q)
      for (int k = 0; k < 8; ++k)
        pairs += k < 5 ? 1 : 0.5;
  expect({"vllm::unified_attention_with_output", "[[6, 8, 128], [6, 1, 128], [6, 1, 128]]", types,
          "[]", pairs * 8 * 2 * 256, (6.0 * 18 * 128 + (16 - 6) * 2.0 * 128) * 2,
          during("execute_6_context_2(sq6sk16sqsq18sqsk48)_generation_0(sq0sk0sqsq0sqsk0)")});

  const OpInfo* op = find_op("vllm::unified_attention_with_output");
  const ParsedArgs args(dims, types, "", "[]");
  EXPECT_FALSE(evaluate(*op, args, {}, true)); // the reference has no row for this call
  const auto none = evaluate(*op, args, {}, false);
  ASSERT_TRUE(none);
  EXPECT_TRUE(std::isnan(none->flops)); // rankscope has a row with unknown cost
  EXPECT_TRUE(std::isnan(none->bytes));
}

// A chunk of 100 tokens after 900 tokens has 900 100 + 100 100 / 2 pairs. A window of 64 leaves 100
// 64 of them. At most 100 64 of the 900 old keys are read, which is more than all of them.
TEST(LibraryModels, AWindowOfKeysThatTheUserNamed) {
  ModelHints hints =
      during("execute_1_context_1(sq100sk1000sqsq10000sqsk100000)_generation_0(sq0sk0sqsq0sqsk0)");
  hints.window = 64;
  const char* const name = "vllm::unified_attention_with_output";
  const char* const dims = "[[100, 8, 128], [100, 1, 128], [100, 1, 128]]";
  const double bytes = (100.0 * 18 * 128 + 900 * 2.0 * 128) * 2;
  expect({name, dims, list({kB, kB, kB}), "[]", 8.0 * 256 * 2 * 6400, bytes, hints});
  hints.window = 2000; // larger than the context
  expect({name, dims, list({kB, kB, kB}), "[]", 8.0 * 256 * 2 * 95000, bytes, hints});
}

TEST(LibraryModels, SparsePrefillCountsItsIndexLists) {
  // 4 queries with 2 heads of 8 numbers; 10 + 6 (query, key) pairs
  expect({"aiter::pa_sparse_prefill_opus_fwd", "[[4, 2, 8], [99, 8], [10], [5], [9, 8], [6]]",
          list({kB, kB, "int", "int", kB, "int"}), "[]", 16.0 * 2 * 4 * 8,
          2 * 64 * 2 + 16 * 8 * 2});
}

TEST(LibraryModels, ScanOfStateSpaceModels) {
  // B=1, T=256, H=2 heads of P=4, G=1, N=3: 2*8 + 2*3 + 2 = 24 input channels; chunks of 128
  expect(
      {"MambaSplitConv1dScanCombinedFn",
       "[[1, 256, 24], [14, 4], [14], [2], [2], [2], [], [], [], [], [], [], [], [], [], [], []]",
       list({kB, kB, kB, "float", "float", "float"}),
       list({"", "", "", "", "", "", "128", "", "", "", "", "", "", "", "", "4", "1"}),
       2.0 * 14 * 4 * 256 + 2.0 * 256 * 128 * 3 + 2.0 * 2 * 256 * 128 * 4 + 4.0 * 2 * 256 * 3 * 4,
       (256 * 24 + 56 + 14 + 256 * 8) * 2 + 2 * 12});
}

TEST(LibraryModels, HostileShapesGiveNoNumbersButNoHarm) {
  const std::string huge = "[" + std::string("[9223372036854775807, 2, 3]");
  for (const OpInfo& op : modelled_ops())
    for (const std::string& dims :
         {huge + ", [9223372036854775807, 9223372036854775807]]",
          std::string("[[-1, 4], [4, -9223372036854775808], [1]]"),
          std::string("[[1099511627777]]"),
          std::string("[[0, 0], [0, 0, 0], [0], [0, 0], [0], [0], [0], [0]]"),
          std::string("[[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1], [0, 2], [3], [0], [0, 0]]"),
          std::string("[[1099511627776, 1099511627776, 1099511627776], [1099511627776, "
                      "1099511627776, 1099511627776], [1099511627776, 1099511627776]]")})
      for (const bool compat : {false, true}) {
        ModelHints hints = during("execute_1_context_1(sq1sk1sqsq1sqsk1)_generation_1("
                                  "sq9223372036854775807sk1sqsq1sqsk1)");
        hints.topk = 2;
        hints.kernel = "x_fp4_swiglu";
        const auto r = evaluate(
            op,
            ParsedArgs(dims, list({kB, kF8, "x", kB, kB, kB}), "[]",
                       list({"1e999", "-1", "[-5, 3]", "9999999999999999", "nan", "True"})),
            hints, compat);
        if (dims.find("922337") != std::string::npos || dims.find('-') != std::string::npos) {
          EXPECT_FALSE(r && !std::isnan(r->flops)) << op.name << " " << dims;
        }
      }
}

TEST(StepAnnotation, OfThreeServers) {
  const auto vllm = parse_step_annotation(
      "execute_64_context_2(sq5sk8sqsq25sqsk40)_generation_64(sq64sk131072sqsq64sqsk131072)");
  ASSERT_TRUE(vllm);
  EXPECT_TRUE(vllm->detailed);
  EXPECT_EQ(vllm->c_sqsq, 25);
  EXPECT_EQ(vllm->g_sqsk, 131072);
  const auto counts = parse_step_annotation("execute_context_2(100)_generation_3(3)");
  ASSERT_TRUE(counts);
  EXPECT_FALSE(counts->detailed);
  EXPECT_EQ(counts->c_sq, 100);
  EXPECT_EQ(counts->g_sq, 3);
  const auto sglang = parse_step_annotation("step[DECODE bs=64]");
  ASSERT_TRUE(sglang);
  EXPECT_TRUE(sglang->kv_unknown);
  EXPECT_EQ(sglang->g_sq, 64);
  const auto extend = parse_step_annotation("step[EXTEND bs=2 toks=14720]");
  ASSERT_TRUE(extend); // two requests of 7360 tokens
  EXPECT_EQ(extend->c_sqsq, 2.0 * 7360 * 7360);
  const auto as_said = parse_step_annotation("step[EXTEND bs=2 toks=14720]", false);
  ASSERT_TRUE(as_said);
  EXPECT_FALSE(as_said->detailed);
  EXPECT_EQ(as_said->c_sq, 14720);
  const auto full = parse_step_annotation(
      "step[EXTEND bs=2 toks=7 c_sq=7 c_sk=9 c_sqsq=25 c_sqsk=33 g_sq=0 g_sk=0 g_sqsq=0 g_sqsk=0]");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->c_sqsk, 33);
  const auto atom = parse_step_annotation(
      "prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=108745533 sqsk=108745533 sk=14721]");
  ASSERT_TRUE(atom);
  EXPECT_TRUE(atom->detailed);
  EXPECT_EQ(atom->c_sqsq, 108745533);
  EXPECT_EQ(atom->c_sk, 14721);
  const auto short_atom = parse_step_annotation("decode[bs=117/128 tok=117 d=117]");
  ASSERT_TRUE(short_atom);
  EXPECT_FALSE(short_atom->detailed);
  EXPECT_EQ(short_atom->g_sq, 117);
  for (const char* other :
       {"", "ProfilerStep#3", "execute_", "step[", "step[]", "prefill[", "decode[]x",
        "execute_1_context_1(sq-1sk0sqsq0sqsk0)_generation_0(", "]"})
    (void)parse_step_annotation(other);
  EXPECT_FALSE(parse_step_annotation("ProfilerStep#3"));
  EXPECT_FALSE(parse_step_annotation("stepping[DECODE bs=1]"));
}

} // namespace
} // namespace rankscope
