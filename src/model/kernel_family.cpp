#include "model/kernel_family.h"

#include "base/ascii.h"
#include "model/kernels.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace rankscope {
namespace {

bool any_of(std::string_view lower, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [lower](std::string_view part) { return lower.find(part) != std::string_view::npos; });
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Removes the text in angle brackets at any depth, and the arguments of the function.
std::string without_templates(std::string_view name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<')
      ++depth;
    else if (c == '>')
      depth = std::max(0, depth - 1);
    else if (c == '(' && depth == 0 && !out.empty())
      break;
    else if (depth == 0)
      out += c;
  }
  return out;
}

bool is_attention(std::string_view lower) {
  return any_of(lower, {"attention", "attn", "flash_fwd", "flash_bwd", "fmha", "mla_decode",
                        "mla_prefill", "paged_decode", "reduce_segments",
                        // FlashInfer, whose other kernels are not attention
                        "withkvcache", "withpagedkvcache", "withraggedkvcache", "mergestate",
                        // Triton kernels of vLLM, SGLang and AITER
                        "fwd_kernel_stage", "fwd_grouped_kernel_stage", "bwd_kernel_dq", "dkdv"});
}

/// Returns whether a name contains "norm", but not of the normal distribution: "normal_".
bool is_norm(std::string_view lower) {
  constexpr std::string_view kNorm = "norm";
  constexpr std::string_view kNormal = "normal"; // not "normalize"
  for (std::size_t at = 0; (at = lower.find(kNorm, at)) != std::string_view::npos; ++at)
    if (const std::string_view rest = lower.substr(at);
        !rest.starts_with(kNormal) || (rest.size() > kNormal.size() &&
                                       rest[kNormal.size()] >= 'a' && rest[kNormal.size()] <= 'z'))
      return true;
  return false;
}

/// Returns whether a name is that of a matrix product that parse_gemm_kernel() does not accept,
/// because the name does not contain a tile in a known form.
bool is_other_product(std::string_view lower) {
  return any_of(lower, {"gemv", "matmul", "fused_moe_kernel", "fmoe", "moe_gemm", "splitk", "nvjet",
                        "cijk_", "custom_cijk"});
}

} // namespace

std::string_view kernel_family_name(KernelFamily family) {
  static constexpr std::array<std::string_view, kKernelFamilies> kNames = {
      "GEMM", "attention", "norm", "elementwise", "reduce", "copy", "communication", "other"};
  return kNames[static_cast<std::size_t>(family)];
}

KernelFamily kernel_family(std::string_view name) {
  if (is_communication_name(name))
    return KernelFamily::kCommunication;
  const std::string lower = lowercase(name);
  // TorchInductor names a kernel after its operators, also after those that are only its inputs
  const bool is_pointwise = lower.starts_with("triton_poi");
  if (!is_pointwise && !lower.starts_with("triton_red") && !lower.starts_with("triton_per")) {
    if (is_attention(lower))
      return KernelFamily::kAttention;
    if (is_gemm_kernel(name) || is_other_product(lower))
      return KernelFamily::kGemm;
  }
  if (!is_pointwise && is_norm(lower))
    return KernelFamily::kNorm;
  if (any_of(lower, {"memcpy", "memset", "copy", "reshape_and_cache", "cat_", "catarray", "fillb",
                     "transpose", "gather", "scatter", "index"}))
    return KernelFamily::kCopy;
  if (any_of(lower, {"reduce", "softmax", "topk", "argmax", "sum", "triton_red", "triton_per"}))
    return KernelFamily::kReduce;
  if (any_of(lower, {"elementwise", "triton_poi", "silu", "gelu", "swiglu", "act_and_mul", "rotary",
                     "rope", "add_kernel", "mul_kernel", "sigmoid", "quant", "functor"}))
    return KernelFamily::kElementwise;
  return KernelFamily::kOther;
}

std::string kernel_stem(std::string_view name) {
  std::string out;
  for (const char c : lowercase(name)) {
    if (!digit(c)) {
      out += c;
      continue;
    }
    if (out.empty() || out.back() != '#')
      out += '#';
    // several numbers with "x" between them, as in "16x128x256", count as one number
    if (out.size() >= 3 && out[out.size() - 2] == 'x' && out[out.size() - 3] == '#')
      out.resize(out.size() - 2);
  }
  while (out.ends_with("_#"))
    out.resize(out.size() - 2);
  return out;
}

std::string kernel_kind(std::string_view name) {
  const KernelFamily family = kernel_family(name);
  if ((family == KernelFamily::kGemm || family == KernelFamily::kAttention) &&
      !finishes_another(name))
    return std::string(kernel_family_name(family));
  std::string out = kernel_stem(without_templates(name));
  if (out.starts_with("void "))
    out.erase(0, 5);
  return out;
}

bool finishes_another(std::string_view name) {
  return any_of(lowercase(name), {"splitkreduce", "splitk_reduce", "reduce_splitk", "reducesplitk",
                                  "postgsu", "reduce_segments", "splitkv_combine", "merge_states",
                                  "merge_attn_states", "mergestate", "fwd_kernel_stage2"});
}

} // namespace rankscope
