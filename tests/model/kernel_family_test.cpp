// Tests the kinds of kernels, which depend on their names.
#include "model/kernel_family.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(KernelFamily, IsToldByTheName) {
  const auto family = [](const char* name) { return kernel_family_name(kernel_family(name)); };
  EXPECT_EQ(family("Cijk_Alik_Bljk_BBS_BH_MT256x192x64"), "GEMM");
  EXPECT_EQ(family("nvjet_tst_64x8_64x16_4x1_v_bz_TNT"), "GEMM");
  EXPECT_EQ(family("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"), "GEMM");
  EXPECT_EQ(family("void wvSplitK_hf_sml_<__hip_bfloat16, 64>(int)"), "GEMM");
  EXPECT_EQ(family("kernel_unified_attention_3d"), "attention");
  EXPECT_EQ(family("void flash_fwd_splitkv_kernel<Traits>(Params)"), "attention");
  EXPECT_EQ(family("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), "communication");
  EXPECT_EQ(family("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>"), "norm");
  EXPECT_EQ(family("Memcpy DtoD (Device -> Device)"), "copy");
  EXPECT_EQ(family("_topk_forward"), "reduce");
  EXPECT_EQ(family("triton_poi_fused__to_copy_1"), "copy");
  EXPECT_EQ(family("void vllm::rotary_embedding_kernel<c10::BFloat16, true>"), "elementwise");
  EXPECT_EQ(family("mystery"), "other");
}

// Kernels whose names contain words of other families.
TEST(KernelFamily, WordsOfOtherFamilies) {
  const auto family = [](const char* name) { return kernel_family_name(kernel_family(name)); };
  EXPECT_EQ(family("void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_"
                   "kernel<float, 4, at::native::templates::cuda::normal_and_transform<float>>"),
            "elementwise");
  EXPECT_EQ(family("triton_red_fused_log_normal"), "reduce");
  EXPECT_EQ(family("l2_normalize"), "norm");
  EXPECT_EQ(family("triton_poi_fused__scaled_dot_product_flash_attention_clone_transpose_3"),
            "copy");
  EXPECT_EQ(family("triton_poi_fused__scaled_dot_product_flash_attention_mul_3"), "elementwise");
  EXPECT_EQ(family("triton_poi_fused_native_layer_norm_backward_addmm_5"), "elementwise");
  EXPECT_EQ(family("triton_poi_fused_matmul_backward_5"), "elementwise");
  EXPECT_EQ(family("triton_per_fused_native_layer_norm_matmul_5"), "norm");
  EXPECT_EQ(family("triton_red_fused__scaled_dot_product_flash_attention_mul_5"), "reduce");
  EXPECT_EQ(family("triton_tem_fused_flex_attention_0"), "attention");
  EXPECT_EQ(family("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(int)"), "norm");
  EXPECT_EQ(family("void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16>(int)"),
            "elementwise");
  for (const char* attention :
       {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<Traits>(int)",
        "void flashinfer::SingleDecodeWithKVCacheKernel<Traits>(int)",
        "void flashinfer::BatchPrefillWithRaggedKVCacheKernel<Traits>(int)",
        "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u>(int)",
        "_bwd_kernel_dkdvdq_causal", "_bwd_kernel_dq_causal", "_fwd_grouped_kernel_stage1",
        "_fwd_kernel_stage2"})
    EXPECT_EQ(family(attention), "attention") << attention;
  EXPECT_TRUE(finishes_another("_fwd_kernel_stage2"));
  EXPECT_FALSE(finishes_another("_fwd_kernel_stage1"));
}

TEST(KernelFamily, StemsLoseWhatShapesChange) {
  EXPECT_EQ(kernel_stem("_matmul_16x128x256x1_up"), "_matmul_#_up");
  EXPECT_EQ(kernel_stem("_matmul_64x128x256x1_up"), "_matmul_#_up");
  EXPECT_EQ(kernel_stem("triton_poi_fused_add_12"), "triton_poi_fused_add");
  EXPECT_EQ(kernel_stem("box"), "box");
}

TEST(KernelFamily, ProductsAreOneKindAndSoIsAttention) {
  EXPECT_EQ(kernel_kind("Cijk_Alik_Bljk_BBS_BH_MT16x16x64"), "GEMM");
  EXPECT_EQ(kernel_kind("kernel_unified_attention_2d"), "attention");
  EXPECT_EQ(kernel_kind("void vllm::act_and_mul_kernel<c10::BFloat16, 3>(int*)"),
            "vllm::act_and_mul_kernel");
  // a kernel that sums split products must not be matched with a product
  EXPECT_EQ(kernel_kind("void cublasLt::splitKreduce_kernel<32, 16>(int)"),
            "cublaslt::splitkreduce_kernel");
  EXPECT_TRUE(finishes_another("void cublasLt::splitKreduce_kernel<32, 16>(int)"));
  EXPECT_TRUE(finishes_another("reduce_segments"));
  EXPECT_FALSE(finishes_another("kernel_unified_attention_3d"));
}

} // namespace
} // namespace rankscope
