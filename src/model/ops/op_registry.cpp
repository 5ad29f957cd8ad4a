#include "model/ops/op_registry.h"

#include "base/ascii.h"

#include <unordered_map>

namespace rankscope {
namespace {

constexpr OpInfo kOps[] = {
#define RS_OP(name, model, category, bwd_category, family)                                         \
  {name, model, category, bwd_category, family, false},
#define RS_OP_MORE(name, model, category, bwd_category, family)                                    \
  {name, model, category, bwd_category, family, true},
#include "model/ops/op_registry.def"
#undef RS_OP
#undef RS_OP_MORE
};

struct CategoryOnly {
  std::string_view name;
  std::string_view category;
};

// operators with a category but without a cost model (docs/reference/report-rules.md 13)
constexpr CategoryOnly kCategoryOnly[] = {
    {"aten::miopen_convolution", "CONV_fwd"},
    {"aten::cudnn_convolution", "CONV_fwd"},
    {"aten::_efficient_attention_forward", "SDPA_fwd"},
    {"FlashAttnFuncBackward", "SDPA_bwd"},
    {"FusedAttnFuncBackward", "SDPA_bwd"},
    {"aten::_efficient_attention_backward", "SDPA_bwd"},
    {"aten::_scaled_dot_product_cudnn_attention_backward", "SDPA_bwd"},
    {"aten::_scaled_dot_product_efficient_attention_backward", "SDPA_bwd"},
    {"aten::_scaled_dot_product_flash_attention_backward", "SDPA_bwd"},
    {"MambaSplitConv1dScanCombinedFnBackward", "SSM_bwd"},
    {"DaoAILab::_causal_conv1d_bwd_cpp", "SSM_bwd"},
    {"TokenPermuteMaskMap", "MoE_comm_fwd"},
    {"_OperationFuserAutogradFunction", "MoE_comm_fwd"},
    {"MoEDispatchBackward", "MoE_comm_bwd"},
    {"MoECombineBackward", "MoE_comm_bwd"},
    {"TokenPermuteMaskMapBackward", "MoE_comm_bwd"},
    {"_OperationFuserAutogradFunctionBackward", "MoE_comm_bwd"},
    {"FusedRoPEFuncBackward", "RoPE_bwd"},
    {"CrossEntropyFunctionBackward", "CrossEntropy_bwd"},
    {"aiter::moe_sorting_opus_fwd", "MoE_aux"},
    {"aiter::moe_align_block_size", "MoE_aux"},
    {"_moe_C::moe_align_block_size", "MoE_aux"},
    {"aiter::moe_sum", "MoE_aux"},
    {"aiter::topk_softmax", "MoE_aux"},
    {"aiter::topk_softmax_asm", "MoE_aux"},
    {"aiter::topk_sigmoid", "MoE_aux"},
    {"aiter::grouped_topk", "MoE_aux"},
    {"aiter::moe_fused_gate", "MoE_aux"},
    {"aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", "MoE_aux"},
    {"_C_cache_ops::reshape_and_cache_flash", "InferenceAttention"},
    {"_C_cache_ops::concat_and_cache_mla", "InferenceAttention"},
    {"aiter::get_mla_metadata_v1", "InferenceAttention"},
    {"aiter::indexer_score_topk", "InferenceAttention"},
};

// Rows for single kernels, "operator->kernel (Synthetic Op)", compared by the beginning of their
// names. The rest of a name depends on shapes.
constexpr CategoryOnly kCategoryOfKernelRow[] = {
    {"aiter::fused_moe_->_fused_dynamic_mxfp4_quant_moe_sort_kernel", "MoE_aux"},
    {"hipModuleLaunchKernel->kv_indices_generate_kernel", "InferenceAttention"},
    {"aiter::v4_attention_with_output->_update_compressor_states_kernel", "InferenceAttention"},
    {"aiter::v4_attention_with_output->_swa_write_kernel", "InferenceAttention"},
    {"aiter::v4_attention_with_output->fused_compress_attn_D", "InferenceAttention"},
    {"aiter::v4_attention_with_output->hca_compress_forward_D", "InferenceAttention"},
    {"aiter::unified_attention_with_output_base->_fused_qk_rope_reshape_and_cache_kernel",
     "FusedRoPE"},
    {"aiter::v4_attention_with_output->_inverse_rope_gptj_kernel", "FusedRoPE"},
    {"aiter::v4_attention_with_output->qk_norm_rope_H", "FusedRoPE"},
    {"aiter::v4_attention_with_output->hca_norm_rope_scatter_D", "FusedRoPE"},
};

} // namespace

std::span<const OpInfo> modelled_ops() {
  return kOps;
}

const OpInfo* find_op(std::string_view name) {
  static const auto kIndex = [] {
    std::unordered_map<std::string_view, const OpInfo*> index;
    for (const OpInfo& op : kOps)
      index.emplace(op.name, &op);
    return index;
  }();
  const auto it = kIndex.find(name);
  return it == kIndex.end() ? nullptr : it->second;
}

std::string_view op_category(std::string_view op, std::string_view first_kernel) {
  static const auto kCategories = [] {
    std::unordered_map<std::string_view, std::string_view> index;
    for (const CategoryOnly& c : kCategoryOnly) // before the models, because one name is in both
                                                // lists and the first entry is used
      index.emplace(c.name, c.category);
    for (const OpInfo& info : kOps)
      if (!info.beyond) // operators beyond the reference have the category of their kernel, as in
                        // the reference
        index.emplace(info.name, info.category);
    return index;
  }();
  if (const auto known = kCategories.find(op); known != kCategories.end())
    return known->second;
  if (contains(op, "->"))
    for (const CategoryOnly& c : kCategoryOfKernelRow)
      if (op.starts_with(c.name))
        return c.category;
  if (op.starts_with("triton"))
    return "triton";
  if (op.starts_with("record_param_comms"))
    return "record_param_comms";
  if (first_kernel.starts_with("void at::native")) {
    if (contains(first_kernel, "elementwise"))
      return "elementwise";
    if (contains(first_kernel, "reduce"))
      return "reduce";
    if (contains(first_kernel, "multi_tensor_apply"))
      return "multi_tensor_apply";
  }
  return "other";
}

} // namespace rankscope
