#include "model/ops/op_registry.h"

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

// operators that have a category but no cost model of their own (docs/reference/report-rules.md 13)
constexpr CategoryOnly kCategoryOnly[] = {
    {"aten::miopen_convolution", "CONV_fwd"},
    {"aten::cudnn_convolution", "CONV_fwd"},
    {"aten::_scaled_dot_product_cudnn_attention_backward", "SDPA_bwd"},
    {"aten::_scaled_dot_product_efficient_attention_backward", "SDPA_bwd"},
    {"aten::_scaled_dot_product_flash_attention_backward", "SDPA_bwd"},
    {"aten::_efficient_attention_forward", "SDPA_fwd"},
    {"aten::_efficient_attention_backward", "SDPA_bwd"},
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

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
  if (const OpInfo* info = find_op(op); info != nullptr && !info->beyond)
    return info->category; // the others have the category of their kernel, as in the reference
  for (const CategoryOnly& c : kCategoryOnly)
    if (c.name == op)
      return c.category;
  if (starts_with(op, "triton"))
    return "triton";
  if (starts_with(op, "record_param_comms"))
    return "record_param_comms";
  if (starts_with(first_kernel, "void at::native")) {
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
