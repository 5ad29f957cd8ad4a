// Tests cost models with hand-calculated values, loops that count, and cells of reference tables.
#include "model/gpu_arch.h"
#include "model/ops/op_model.h"

#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

PerfResult cost(const char* op, const char* dims, const char* types, const char* concrete = "",
                bool compat = false) {
  const OpInfo* info = find_op(op);
  EXPECT_NE(info, nullptr) << op;
  const auto r = evaluate(*info, ParsedArgs(dims, types, compat ? "[]" : "", concrete), {}, compat);
  EXPECT_TRUE(r) << op;
  return r.value_or(PerfResult{});
}
const char* const kBf16x2 = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";

TEST(OpModel, MatrixProductEqualsCountedOnes) {
  double flops = 0; // one multiplication and one addition per (m, n, k)
  for (int m = 0; m < 5; ++m)
    for (int n = 0; n < 7; ++n)
      for (int k = 0; k < 3; ++k)
        flops += 2;
  const PerfResult r = cost("aten::mm", "[[5, 3], [3, 7]]", kBf16x2);
  EXPECT_EQ(r.flops, flops);
  EXPECT_EQ(r.bytes, 2 * (15 + 21 + 35));
  EXPECT_EQ(r.compute_spec, "matrix_bf16");
  const PerfResult add = cost("aten::addmm", "[[7], [5, 3], [3, 7], [], []]", kBf16x2);
  EXPECT_EQ(add.flops, flops + 35);
  EXPECT_EQ(add.bytes, 2 * (15 + 21 + 35 + 7));
  const PerfResult bmm = cost("aten::bmm", "[[2, 5, 3], [2, 3, 7]]", kBf16x2);
  EXPECT_EQ(bmm.flops, 2 * flops);
}

TEST(OpModel, FullBiasMatrixIsReadWholeUnlessCompat) {
  const char* const dims = "[[5, 7], [5, 3], [3, 7]]";
  EXPECT_EQ(cost("aten::addmm", dims, kBf16x2).bytes, 2 * (15 + 21 + 35 + 35));
  EXPECT_EQ(cost("aten::addmm", dims, kBf16x2, "", true).bytes, 2 * (15 + 21 + 35 + 7));
}

TEST(OpModel, CompatHasCostsOfWhatTheReferenceReads) {
  const OpInfo& mul = *find_op("aten::mul");
  const OpInfo& sum = *find_op("aten::sum");
  const char* const dims = "[[4, 6], [4, 6]]";
  EXPECT_FALSE(evaluate(mul, ParsedArgs(dims, kBf16x2, "", ""), {}, true)); // no strides
  EXPECT_TRUE(evaluate(mul, ParsedArgs(dims, kBf16x2, "[[6, 1], [6, 1]]", ""), {}, true));
  EXPECT_TRUE(evaluate(mul, ParsedArgs(dims, kBf16x2, "", ""), {}, false));
  const auto unrecorded = evaluate(sum, ParsedArgs("", "", "", ""), {}, true);
  ASSERT_TRUE(unrecorded);
  EXPECT_EQ(unrecorded->flops, 0);
  EXPECT_TRUE(std::isnan(unrecorded->bytes));
  EXPECT_EQ(unrecorded->params.size(), 3U); // no reduce_type
  EXPECT_FALSE(evaluate(sum, ParsedArgs("", "", "", ""), {}, false));
}

TEST(OpModel, ConvolutionEqualsCountedOnes) {
  // x (2, 4, 6, 5), w (6, 2, 3, 3), groups 2, stride 2, padding 1: output (2, 6, 3, 3)
  double flops = 0;
  int outputs = 0;
  for (int b = 0; b < 2; ++b)
    for (int o = 0; o < 6; ++o)
      for (int y = -1; y + 3 <= 6 + 1; y += 2)
        for (int x = -1; x + 3 <= 5 + 1; x += 2, ++outputs)
          for (int tap = 0; tap < 2 * 3 * 3; ++tap)
            flops += 2;
  const char* const dims = "[[2, 4, 6, 5], [6, 2, 3, 3], [6], [], [], [], [], [], []]";
  const char* const concrete =
      R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"])";
  const PerfResult r = cost("aten::convolution", dims, kBf16x2, concrete);
  EXPECT_EQ(r.flops, flops + outputs); // with a bias
  EXPECT_EQ(r.bytes, 2.0 * (2 * 4 * 6 * 5 + 6 * 2 * 9 + outputs + 6));
  EXPECT_EQ(cost("aten::convolution", dims, kBf16x2, concrete, true).flops, flops);
}

TEST(OpModel, ConvolutionBackwardCountsTheRequestedGradients) {
  // x (10, 3, 224, 224), w (64, 3, 7, 7), stride 2, padding 3: output (10, 64, 112, 112)
  const char* const dims = "[[10, 64, 112, 112], [10, 3, 224, 224], [64, 3, 7, 7]]";
  const auto backward = [&](const std::string& mask, bool compat = false) {
    const std::string concrete =
        R"(["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask +
        "\"]";
    return cost("aten::convolution_backward", dims, kBf16x2, concrete.c_str(), compat);
  };
  const double one = 2.0 * 10 * 64 * 147 * 112 * 112, dout = 10 * 64 * 112 * 112;
  const double tensors = 2 * (10 * 3 * 224 * 224 + 64 * 147 + dout);
  const PerfResult weights = backward("[False, True, False]");
  EXPECT_EQ(weights.flops, one);
  EXPECT_EQ(weights.bytes, tensors);
  EXPECT_EQ(weights.params.back().first, "output_mask");
  EXPECT_EQ(backward("[True, False, False]").flops, one);
  EXPECT_EQ(backward("[True, True, False]").flops, 2 * one);
  EXPECT_EQ(backward("[True, True, True]").flops, 2 * one + dout);
  EXPECT_EQ(backward("[True, True, True]").bytes, 2 * tensors + 2 * (dout + 64));
  EXPECT_EQ(backward("[False, False, True]").flops, dout);
  EXPECT_EQ(backward("").flops, 2 * one + dout); // which gradients are computed is unknown
  EXPECT_EQ(backward("[False, True, False]", true).flops, 2 * one);
}

TEST(OpModel, ScaledProductReadsItsBiasAndResultType) {
  const char* const dims = "[[8, 16], [16, 32], [], [], [32], [], [], []]";
  const auto product = [&](const char* bias, const char* result) {
    const std::string types =
        std::string(R"(["c10::Float8_e5m2", "c10::Float8_e4m3fn", "float", "float", ")") + bias +
        R"(", "", "Scalar", ""])";
    const std::string concrete =
        std::string(R"(["", "", "", "", "", "", ")") + result + R"(", "True"])";
    return cost("aten::_scaled_mm", dims, types.c_str(), concrete.c_str());
  };
  const PerfResult bf16 = product("c10::BFloat16", "15");
  EXPECT_EQ(bf16.flops, 2 * 8 * 16 * 32 + 8 * 32);
  EXPECT_EQ(bf16.bytes, 8 * 16 + 16 * 32 + 2 * 8 * 32 + 2 * 32);
  EXPECT_EQ(bf16.compute_spec, "matrix_fp8");
  EXPECT_EQ(product("float", "6").bytes, 8 * 16 + 16 * 32 + 4 * 8 * 32 + 4 * 32);
}

TEST(OpModel, AttentionEqualsCountedOnes) {
  double flops = 0;
  double causal = 0;
  for (int bh = 0; bh < 2 * 3; ++bh)
    for (int q = 0; q < 64; ++q)
      for (int k = 0; k < 64; ++k) {
        flops += 2 * 8 + 2 * 8;
        causal += q == k ? 0.5 * 32 : q > k ? 32 : 0; // half of the diagonal
      }
  const char* const dims = "[[2, 3, 64, 8], [2, 3, 64, 8], [2, 3, 64, 8]]";
  const char* const op = "aten::_scaled_dot_product_flash_attention";
  EXPECT_EQ(cost(op, dims, kBf16x2, R"(["", "", "", "0.", "False"])").flops, flops);
  EXPECT_EQ(cost(op, dims, kBf16x2, R"(["", "", "", "0.", "True"])").flops, causal);
  // element size: the reference always uses 2
  const char* const fp32 = R"(["float", "float", "float"])";
  EXPECT_EQ(cost(op, dims, fp32, "[]").bytes, 2 * cost(op, dims, fp32, "[]", true).bytes);
}

TEST(OpModel, ReductionReadsItsDimensions) {
  const char* const concrete = R"(["", "[0]", "True"])";
  const PerfResult r = cost("aten::sum", "[[10, 1000], []]", kBf16x2, concrete);
  EXPECT_EQ(r.flops, 10000);
  EXPECT_EQ(r.bytes, 2 * (10000 + 1000));
  EXPECT_EQ(cost("aten::sum", "[[10, 1000], []]", kBf16x2, concrete, true).bytes, 2 * 10001);
  EXPECT_EQ(cost("aten::mean", "[[4, 6], []]", kBf16x2, R"(["", "[-1]"])").bytes, 2 * (24 + 4));
}

TEST(OpModel, BatchNormTrainingFlag) {
  const char* const dims = "[[10, 64, 56, 56], [64], [64], [64], [64]]";
  const char* const eval = R"(["", "", "", "", "", "False"])";
  const double n = 10.0 * 64 * 56 * 56;
  EXPECT_EQ(cost("aten::batch_norm", dims, kBf16x2, eval).flops, 6 * 64 + 2 * n);
  EXPECT_EQ(cost("aten::batch_norm", dims, kBf16x2, eval, true).flops, 6 * 64 + 5 * n);
}

TEST(OpModel, ElementwiseBroadcast) {
  const PerfResult r =
      cost("aten::mul", "[[16, 559, 1024], [16, 559, 1]]", R"(["float", "float"])");
  EXPECT_EQ(r.flops, 9158656);
  EXPECT_NEAR(r.bytes / 1048576, 69.90911865234375, 1e-12); // value from a reference table
  const OpInfo* mul = find_op("aten::mul");
  EXPECT_FALSE(evaluate(*mul, ParsedArgs("[[3], [2]]", kBf16x2, "", ""), {}, false));
}

TEST(OpModel, TritonNames) {
  const ParsedArgs args("[[8, 4096, 8192], [32768, 8192], []]",
                        R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])", "",
                        R"(["", "", "268435456"])");
  const auto r = evaluate_triton("triton_poi_fused__unsafe_view_mul_silu_2", args, true);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->flops, 1342177280);
  EXPECT_EQ(r->bytes, 1536.0 * 1048576); // the reference counts two tensors, and the points again
  EXPECT_EQ(r->compute_spec, "vector_bfloat16");
  const auto right = evaluate_triton("triton_poi_fused__unsafe_view_mul_silu_2", args, false);
  EXPECT_EQ(right->bytes, 1024.0 * 1048576);
  EXPECT_EQ(right->compute_spec, "vector_bf16");
  EXPECT_EQ(r->params[0].second, "'aten._unsafe_view, aten.mul, aten.silu'");
}

TEST(OpModel, TritonChargesTheSliceThatItTouches) {
  // 1.6 M points of a tensor of 21.5 M are read and written: 6.4 MB, not 46.2 MB
  const ParsedArgs slice("[[1, 21504000], [1, 1600000], []]",
                         R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])", "",
                         R"(["", "", "1600000"])");
  EXPECT_EQ(evaluate_triton("triton_poi_fused_slice_0", slice, false)->bytes, 2 * 1600000 * 2);
  EXPECT_EQ(evaluate_triton("triton_poi_fused_slice_0", slice, true)->bytes,
            2 * (21504000 + 1600000) + 2 * 1600000);
  // the reference counts 0 bytes for types without a known size
  const ParsedArgs mixed("[[100], [100], [100], []]", R"(["float", "long int", "bool", "Scalar"])",
                         "", R"(["", "", "", "100"])");
  EXPECT_EQ(evaluate_triton("triton_poi_fused_add_0", mixed, true)->bytes, 0);
  EXPECT_EQ(evaluate_triton("triton_poi_fused_add_0", mixed, false)->bytes, 100 * (4 + 8 + 1));
}

TEST(OpModel, MasksSayWhichGradientsOfANormAreWritten) {
  // layer norm backward, (1, 256, 512) bf16: 131072 elements, 512 channels; n = 262144 bytes
  const auto layer = [](const char* mask) {
    const OpInfo* op = find_op("aten::native_layer_norm_backward");
    const std::string concrete =
        std::string(R"(["", "", "[512]", "", "", "", "", ")") + mask + "\"]";
    return evaluate(
        *op,
        ParsedArgs("[[1, 256, 512], [1, 256, 512], [], [1, 256, 1], [1, 256, 1], [512], "
                   "[512], []]",
                   R"(["c10::BFloat16", "c10::BFloat16", "ScalarList", "float", "float", )"
                   R"("c10::BFloat16", "c10::BFloat16", "ScalarList"])",
                   "[]", concrete),
        {}, true);
  };
  const auto input_only = layer("[True, False, False]");
  const auto all = layer("[True, True, True]");
  ASSERT_TRUE(input_only);
  ASSERT_TRUE(all);
  // n written, 2 n read, and one statistic of c values
  EXPECT_EQ(input_only->bytes, 3 * 262144 + 512 * 2);
  EXPECT_EQ(all->bytes, input_only->bytes + 512 * 2 + 2 * 512 * 2);
  const auto rms = evaluate(*find_op("aten::_fused_rms_norm"),
                            ParsedArgs("[[4, 8], [], [8]]", R"(["float", "ScalarList", "float"])",
                                       "[]", R"(["", "[8]", ""])"),
                            {}, true);
  ASSERT_TRUE(rms);
  EXPECT_EQ(rms->params.at(7), (std::pair<std::string, std::string>("is_training", "False")));
}

TEST(OpModel, NamesWithACategoryOnly) {
  EXPECT_EQ(op_category("aiter::topk_softmax", ""), "MoE_aux");
  EXPECT_EQ(op_category("FlashAttnFuncBackward", "void at::native::elementwise"), "SDPA_bwd");
  EXPECT_EQ(op_category("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", ""),
            "MoE_aux"); // it has a model
  EXPECT_EQ(op_category("vllm::unified_attention_with_output", ""), "InferenceAttention");
  EXPECT_EQ(
      op_category("aiter::v4_attention_with_output->qk_norm_rope_H16_D512_RD64 (Synthetic Op)", ""),
      "FusedRoPE"); // with other shapes than those in the reference's list
  EXPECT_EQ(op_category("mine->qk_norm_rope_H16 (Synthetic Op)", ""), "other");
}

// All names in the reference's list, see docs/inference.md.
TEST(OpModel, EachNameOfTheListHasItsCategory) {
  const std::pair<const char*, std::vector<const char*>> lists[] = {
      {"SDPA_bwd",
       {"FlashAttnFuncBackward", "FusedAttnFuncBackward", "aten::_efficient_attention_backward",
        "aten::_scaled_dot_product_cudnn_attention_backward",
        "aten::_scaled_dot_product_efficient_attention_backward",
        "aten::_scaled_dot_product_flash_attention_backward"}},
      {"SSM_bwd", {"MambaSplitConv1dScanCombinedFnBackward", "DaoAILab::_causal_conv1d_bwd_cpp"}},
      {"MoE_comm_fwd", {"TokenPermuteMaskMap", "_OperationFuserAutogradFunction"}},
      {"MoE_comm_bwd",
       {"MoEDispatchBackward", "MoECombineBackward", "TokenPermuteMaskMapBackward",
        "_OperationFuserAutogradFunctionBackward"}},
      {"RoPE_bwd", {"FusedRoPEFuncBackward"}},
      {"CrossEntropy_bwd", {"CrossEntropyFunctionBackward"}},
      {"MoE_aux",
       {"aiter::moe_sorting_opus_fwd", "aiter::moe_align_block_size",
        "_moe_C::moe_align_block_size", "aiter::moe_sum", "aiter::topk_softmax",
        "aiter::topk_softmax_asm", "aiter::topk_sigmoid", "aiter::grouped_topk",
        "aiter::moe_fused_gate", "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip",
        "aiter::fused_moe_->_fused_dynamic_mxfp4_quant_moe_sort_kernel (Synthetic Op)"}},
      {"InferenceAttention",
       {"_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::concat_and_cache_mla",
        "aiter::get_mla_metadata_v1", "aiter::indexer_score_topk",
        "hipModuleLaunchKernel->kv_indices_generate_kernel (Synthetic Op)",
        "aiter::v4_attention_with_output->_update_compressor_states_kernel (Synthetic Op)",
        "aiter::v4_attention_with_output->_swa_write_kernel (Synthetic Op)",
        "aiter::v4_attention_with_output->fused_compress_attn_D512_RD64_R4_OVL_SS8_KB32_rmsbf16_pf_"
        "flydsl (Synthetic Op)",
        "aiter::v4_attention_with_output->fused_compress_attn_D128_RD64_R4_OVL_SS8_KB32_Q_ue8m0_"
        "psh_rmsbf16_pf_flydsl (Synthetic Op)",
        "aiter::v4_attention_with_output->hca_compress_forward_D512_R128_NW4_SL256_S128_flydsl "
        "(Synthetic Op)",
        "aiter::v4_attention_with_output->hca_compress_forward_D512_R128_NW8_SL128_S128_flydsl "
        "(Synthetic Op)"}},
      {"FusedRoPE",
       {"aiter::unified_attention_with_output_base->_fused_qk_rope_reshape_and_cache_kernel "
        "(Synthetic Op)",
        "aiter::v4_attention_with_output->_inverse_rope_gptj_kernel (Synthetic Op)",
        "aiter::v4_attention_with_output->qk_norm_rope_H32_D512_RD64_flydsl (Synthetic Op)",
        "aiter::v4_attention_with_output->qk_norm_rope_H64_D512_RD64_flydsl (Synthetic Op)",
        "aiter::v4_attention_with_output->hca_norm_rope_scatter_D512_RD64_R128_KB1_rmsbf16_flydsl "
        "(Synthetic Op)"}},
  };
  for (const auto& [category, names] : lists)
    for (const char* name : names)
      EXPECT_EQ(op_category(name, "some_kernel"), category) << name;
}

TEST(OpModel, UnknownFormulaIsBlank) {
  const OpInfo* op = find_op("aten::instance_norm_backward");
  ASSERT_NE(op, nullptr);
  EXPECT_FALSE(has_formula(*op));
  const auto r = evaluate(*op, ParsedArgs("[[2]]", kBf16x2, "", ""), {}, false);
  ASSERT_TRUE(r);
  EXPECT_TRUE(std::isnan(r->flops));
}

TEST(OpModel, HostileArgumentsDoNotFit) {
  for (const OpInfo& op : modelled_ops())
    for (const char* dims :
         {"[]", "[[]]", "[[1], [2], [3]]", "[[[1, 2], [3]]]", "{", "[[0, 0], [0, 0]]"})
      (void)evaluate(op, ParsedArgs(dims, "[]", "[]", "[\"\", \"x\"]"), {}, false);
  const OpInfo* mm = find_op("aten::mm");
  EXPECT_FALSE(evaluate(*mm, ParsedArgs("[[5], [3, 7]]", kBf16x2, "", ""), {}, false));
}

TEST(GpuArch, RooflineSides) {
  GpuArch arch;
  arch.mem_bw_gbps = 1000;
  arch.tflops = {{"matrix_bf16", 100}};
  const auto c = roofline(arch, "matrix_bf16", 1e12, 1e9);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->compute_bound);
  EXPECT_NEAR(c->time_us, 1e4, 1e-6);
  const auto m = roofline(arch, "matrix_bf16", 1e9, 1e9);
  ASSERT_TRUE(m);
  EXPECT_FALSE(m->compute_bound);
  EXPECT_NEAR(m->time_us, 1e3, 1e-6);
  EXPECT_FALSE(roofline(arch, "vector_bf16", 1e9, 1e9));
  EXPECT_FALSE(roofline(arch, "matrix_bf16", 0, 1e9));
  // 16-bit vector work without a separate peak: rated only if memory is the limit even at the fp32
  // rate
  arch.tflops["vector_fp32"] = 10;
  const auto v = roofline(arch, "vector_bf16", 1e9, 1e9); // 0.1 ms of compute, 1 ms of memory
  ASSERT_TRUE(v);
  EXPECT_FALSE(v->compute_bound);
  EXPECT_NEAR(v->time_us, 1e3, 1e-6);
  EXPECT_FALSE(roofline(arch, "vector_bf16", 1e11, 1e9)); // 10 ms of compute, 1 ms of memory
  EXPECT_FALSE(roofline(arch, "vector_fp64", 1e9, 1e9));
  EXPECT_TRUE(load_gpu_arch("mi300x"));
  EXPECT_FALSE(load_gpu_arch("no-such-gpu"));
}

TEST(GpuArch, BoardsAreRecognisedByTheDeviceName) {
  EXPECT_EQ(recognised_gpu("AMD Instinct MI300X"), "MI300X");
  EXPECT_EQ(recognised_gpu("AMD Instinct MI300X VF"), "MI300X");
  EXPECT_EQ(recognised_gpu("AMD Instinct MI355X"), "MI355X");
  EXPECT_EQ(recognised_gpu("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(recognised_gpu("NVIDIA H200"), "H200");
  EXPECT_EQ(recognised_gpu("NVIDIA B200"), "B200");
  for (const char* other :
       {"", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA GH200 480GB", "AMD Instinct MI300A",
        "AMD Instinct MI210", "Tesla V100-SXM2-32GB", "AMD Radeon Graphics", "NVIDIA GB200"})
    EXPECT_EQ(recognised_gpu(other), "") << other;
  // a part of a GPU has neither its peaks nor its bandwidth
  EXPECT_EQ(recognised_gpu("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), "");
  EXPECT_EQ(recognised_gpu("AMD Instinct MI300X", 38), "");
  EXPECT_EQ(recognised_gpu("AMD Instinct MI300X", 304), "MI300X");
}

TEST(GpuArch, PeaksEqualTheirSources) {
  for (const std::string& name : builtin_gpu_archs()) {
    const auto arch = load_gpu_arch(name);
    ASSERT_TRUE(arch);
    for (const auto& [spec, tflops] : arch->tflops) {
      ASSERT_EQ(arch->sources.count(spec), 1U) << name << " " << spec;
      const std::string& source = arch->sources.find(spec)->second;
      double units = 0;
      double ghz = 0;
      double flops = 0;
      char kind[3] = {};
      if (std::sscanf(source.c_str(), "%lf %2s x %lf GHz x %lf", &units, kind, &ghz, &flops) == 4) {
        EXPECT_NEAR(tflops, units * ghz * flops / 1e3, 0.06) << name << " " << spec;
      } else {
        EXPECT_GT(source.size(), 20U) << name << " " << spec;
      }
    }
  }
}

} // namespace
} // namespace rankscope
