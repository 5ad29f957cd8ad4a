// Tests classification of kernels by name, with names from recorded traces of both vendors.
#include "model/kernels.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Kernels, Tensile) {
  const char* const name = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN";
  const auto k = parse_gemm_kernel(name);
  ASSERT_TRUE(k);
  EXPECT_EQ(k->types, "BBS");
  EXPECT_EQ(k->tile_m, 256);
  EXPECT_EQ(k->tile_n, 192);
  EXPECT_EQ(k->tile_k, 64);
  EXPECT_EQ(gemm_transpose_repr(name), "(True, False)");
  EXPECT_EQ(gemm_transpose_repr("nvjet_tst_128x64_64x8_2x1_v_bz_TNT"), "(True, False)");
}

TEST(Kernels, Others) {
  const auto x = parse_gemm_kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_"
                                   "warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->types, "bf16bf16_bf16f32_f32");
  EXPECT_EQ(x->tile_k, 64);
  const auto c = parse_gemm_kernel(
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->tile_m, 128);
  EXPECT_EQ(c->tile_n, 64);
  EXPECT_EQ(c->transpose_a, true);
  EXPECT_FALSE(parse_gemm_kernel("void at::native::vectorized_elementwise_kernel<4>"));
  EXPECT_EQ(gemm_transpose_repr("ampere_sgemm_128x64_tn"), "");
}

struct NameCase {
  const char* name;
  const char* library; ///< nullptr: not a GEMM
};

// Arguments and template parameters are shortened; the rest of the name determines the result.
constexpr NameCase kNames[] = {
    // AMD
    {"Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x64x32_MI32x32x1_SN_LDSB0", "Tensile"},
    {"Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT64x64x64_MI16x16x1_SN_LDSB1", "Tensile"},
    {"Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_APM1_ABV0", "Tensile"},
    {"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_AS_SAV_UserArgs_MT256x256x64_MI16x16x1_gfx950", "Tensile"},
    {"Custom_Cijk_Ailk_Bljk_F8BS_BH_MT256x160x128_SN", "Tensile"},
    {"Cijk_SB_BiasS_PostGSU4_VW4", nullptr},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_"
     "28GridwiseGemm_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajorE",
     nullptr},
    {"_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_"
     "bk0mk1_bk0nk1_mn_xdlops_bwd_weightILi64E",
     nullptr},
    {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<...>, true>", "CK"},
    {"void ck_tile::kentry<256, 1, ck_tile::FmhaFwdKernel<ck_tile::BlockGemmARegBSmem>>", nullptr},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16_wt16x16x4_ws1x1_wr2x2", nullptr},
    {"igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x16_wt32x32x8_ws1x1_wr2x2", nullptr},
    {"igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt64x64x64_wt16x16x16_ws1x1_wr2x2", nullptr},
    {"void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 1>(int, int)", "other"},
    {"attn_fwd", nullptr},
    {"batched_transpose_16x32_half", nullptr},
    {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", nullptr},
    // NVIDIA
    {"nvjet_tst_256x192_64x4_2x1_v_bz_bias_TNN", "nvjet"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_execute_kernel__5x_cublas", "xmma"},
    {"sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16", nullptr},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw", nullptr},
    {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc", nullptr},
    {"_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock"
     "22ImplicitGemmMultistageINS_4gemm9GemmShape",
     nullptr},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_32x3_nn_align4>()", "CUTLASS"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>()", "CUTLASS"},
    {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>",
     "CUTLASS"},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<>>>", "CUTLASS"},
    {"void cutlass::device_kernel<flash::FlashAttnFwd<cutlass::gemm::X>>", nullptr},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4>",
     nullptr},
    {"void cutlass_cudnn_train::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_256x64>",
     nullptr},
    {"void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<>>",
     nullptr},
    {"ampere_sgemm_32x32_sliced1x4_tn", "cuBLAS"},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "cuBLAS"},
    {"volta_sgemm_64x64_nt", "cuBLAS"},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn", "cuBLAS"},
    {"void sgemm_largek_lds64<true, true, 6, 3, 4, 5, 2, 66>(float*)", "cuBLAS"},
    {"void gemmk1_kernel<float, 256, 5, cublasGemvTensorStridedBatched<float const>>", "cuBLAS"},
    {"void gemvNSP_kernel<float, 1, 16, 4, 1024, cublasGemvParams<>>", nullptr},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float>", nullptr},
    {"void deep_gemm::fp8_gemm_kernel<4096, 7168, 128>", "other"},
    {"void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int, int)", nullptr},
    {"void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_float_to_hfp8_gpu()>",
     nullptr},
    {"void bounds_check_indices_kernel<long, false>(at::GenericPackedTensorAccessor<long>)",
     nullptr},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128>>", nullptr},
    {"void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int)", nullptr},
    // Triton
    {"triton_tem_fused_mm_0", "Triton"},
    {"triton_tem_fused_addmm_relu_1", "Triton"},
    {"triton_tem_fused_bmm_view_3", "Triton"},
    {"triton_mm", "Triton"},
    {"triton_tem_fused_flex_attention_0", nullptr},
    {"triton_poi_fused_addmm_relu_2", nullptr},
    {"triton_red_fused__to_copy_mm_native_layer_norm_4", nullptr},
    {"triton_", nullptr},
    {"", nullptr},
};

TEST(Kernels, ATileIsNeverNegative) {
  for (const char* name : {"Cijk_Alik_Bljk_BBS_BH_MT-8x16x4", "Cijk_Alik_Bljk_BBS_BH_MT8x-16x4",
                           "cutlass_gemm_-9223372036854775808x256_32x3_tn_align8"}) {
    const auto kernel = parse_gemm_kernel(name);
    ASSERT_TRUE(kernel) << name;
    EXPECT_GE(kernel->tile_m, 0) << name;
    EXPECT_GE(kernel->tile_n, 0) << name;
    EXPECT_GE(kernel->tile_k, 0) << name;
  }
}

TEST(Kernels, NamesOfBothVendors) {
  for (const NameCase& c : kNames) {
    const auto kernel = parse_gemm_kernel(c.name);
    EXPECT_EQ(kernel.has_value(), c.library != nullptr) << c.name;
    EXPECT_EQ(is_gemm_kernel(c.name), kernel.has_value()) << c.name;
    EXPECT_EQ(kernel ? gemm_library_name(kernel->library) : "", c.library ? c.library : "")
        << c.name;
  }
}

TEST(Kernels, CustomTensileHasItsTransposesAndTile) {
  const char* const name = "Custom_Cijk_Alik_Bljk_BBS_BH_Bias_UserArgs_MT256x224x64_MI16x16x1";
  const auto k = parse_gemm_kernel(name);
  ASSERT_TRUE(k);
  EXPECT_EQ(k->transpose_a, true);
  EXPECT_EQ(k->transpose_b, false);
  EXPECT_EQ(k->tile_n, 224);
}

// Names from the sources of libraries and from published profiles, with shortened template
// parameters.
constexpr std::pair<const char*, bool> kCommunicationNames[] = {
    {"ncclDevKernel_AllGather_RING_LL", true},
    {"ncclSymkDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymkDevWorkArgs4K)", true},
    {"RCCL_x", true},
    {"mscclKernel_Sum_half_Simple_0", true},
    {"void mscclpp::collective::allreducePacket<(mscclpp::ReduceOp)0, __half, true>(...)", true},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)", true},
    {"void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)", true},
    {"void aiter::cross_device_reduce_1stage_naive<__hip_bfloat16, 8>(aiter::RankData*)", true},
    {"void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(aiter::RankData*)", true},
    {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half, "
     "quickreduce::CodecQ4<__half, 8>, true>, __half>(__half const*)",
     true},
    {"void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", true},
    {"void multimem_one_shot_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", true},
    {"void multimem_all_gather_kernel<16>(char*)", true},
    {"void one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(c10::BFloat16**)", true},
    {"void two_shot_all_reduce_kernel_inplace<float, 16, 4>(float**)", true},
    {"void c10d::intra_node_comm::oneShotAllReduceKernel<8u, true>(c10::BFloat16*)", true},
    {"void c10d::intra_node_comm::hybridCubeMeshAllReduceKernel<true>(c10::BFloat16*)", true},
    {"void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8, true, false>", true},
    {"void tensorrt_llm::kernels::reduce_fusion::lamport_style_one_shot_all_reduce_norm_kernel<"
     "__half, 8>",
     true},
    {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1, "
     "__nv_bfloat16, 8, false, false>",
     true},
    {"void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8, __nv_bfloat16>",
     true},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)", true},
    {"void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", true},
    {"void deep_ep::internode_ll::combine<false, 7168, 9, 8>(void*, void*)", true},
    {"void deep_ep::internode_ll::clean_low_latency_buffer<32>(int*, int)", true},
    {"void mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>(mori::moe::EpDispatchCombineArgs)",
     true},
    {"EpCombineInterNodeV1Kernel_bf16", true},
    {"nvshmemi_proxy_rma_entrypoint(void*, void*, rma_bytesdesc_t, int, nvshmemi_op_t)", true},
    {"void rocshmem::alltoall_on_stream(rocshmem::rocshmem_team_t, void*)", true}, // invented name
    // similar names, but these kernels do not communicate with other GPUs
    {"Cijk_Alik_Bljk", false},
    {"void deep_ep::layout::get_dispatch_layout<256, 4, 8>(long const*, int*)", false},
    {"void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64>>", false},
    {"void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<>>>", false},
    {"void oneflow::cuda::softmax::SoftmaxBlockSMemImpl<BlockAllReduce<SumOp, float, 256>>", false},
    {"void fastertransformer::warpAllReduceSum<float>(float*)", false},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", false},
    {"void vllm::moe::moe_align_block_size_kernel<int>(int*)", false},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<OpaqueType<2u>>", false},
    {"triton_red_fused_all_reduce_like_sum_0", false},
    {"void moe_dispatch_sort_kernel<int>(int*)", false},
    {"void rocprim::detail::block_reduce_kernel<float>", false},
};

TEST(Kernels, CommunicationNames) {
  for (const auto& [name, communicates] : kCommunicationNames)
    EXPECT_EQ(is_communication_name(name), communicates) << name;
}

// ST section 1: with --compat, only the three words of the reference count; otherwise operators
// would lose rows.
TEST(Kernels, TheReferenceKnowsThreeKindsOfCommunication) {
  EXPECT_FALSE(is_communication_name("void multimem_all_reduce_kernel<c10::BFloat16, 16>", true));
  EXPECT_TRUE(is_communication_name("ncclDevKernel_AllReduce", true));
  EXPECT_TRUE(is_communication_name("RCCL_generic", true));
  EXPECT_TRUE(is_communication_name("void vllm::cross_device_reduce_1stage<float>", true));
  StringPool names;
  const StrId multimem = names.intern("multimem_all_reduce_kernel");
  EXPECT_TRUE(communication_names(names)[multimem]);
  EXPECT_FALSE(communication_names(names, true)[multimem]);
}

} // namespace
} // namespace rankscope
