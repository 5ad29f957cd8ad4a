#include "model/kernels.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace rankscope {
namespace {

bool triple(std::string_view text, std::size_t at, char head) {
  if (at + 4 > text.size() || text[at] != head)
    return false;
  for (std::size_t i = at + 1; i < at + 4; ++i)
    if (text[i] < 'a' || text[i] > 'z')
      return false;
  return true;
}

/// Returns the position of "C???_A???_B???" (each ??? is three lower-case indices), or npos.
std::size_t tensile_head(std::string_view name) {
  for (std::size_t at = name.find('C'); at != std::string_view::npos; at = name.find('C', at + 1))
    if (triple(name, at, 'C') && at + 14 <= name.size() && name[at + 4] == '_' &&
        triple(name, at + 5, 'A') && name[at + 9] == '_' && triple(name, at + 10, 'B'))
      return at;
  return std::string_view::npos;
}

/// Reads "<m>x<n>[x<k>]" at `at`. Returns false for other text. "128x64_64x6" means k = 64.
bool read_tile(std::string_view text, std::size_t at, GemmKernel& out) {
  const char* p = text.data() + at;
  const char* const end = text.data() + text.size();
  std::uint32_t m = 0; // unsigned: a size has no sign
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  auto r = std::from_chars(p, end, m);
  if (r.ec != std::errc() || r.ptr == end || *r.ptr != 'x')
    return false;
  r = std::from_chars(r.ptr + 1, end, n);
  if (r.ec != std::errc())
    return false;
  if (r.ptr != end && (*r.ptr == 'x' || *r.ptr == '_')) {
    const auto third = std::from_chars(r.ptr + 1, end, k);
    if (third.ec != std::errc())
      k = 0;
  }
  out.tile_m = m;
  out.tile_n = n;
  out.tile_k = k;
  return true;
}

void tile_after(std::string_view name, std::string_view key, GemmKernel& out) {
  for (std::size_t at = name.find(key); at != std::string_view::npos; at = name.find(key, at + 1))
    if (read_tile(name, at + key.size(), out))
      return;
}

/// Reads the layout letters "_tn_", "_nn_" of xmma, cutlass and cublas names: first letter A,
/// second B.
void layout_letters(std::string_view name, GemmKernel& out) {
  for (std::size_t at = 0; at + 4 <= name.size(); ++at) {
    const auto letter = [](char c) { return c == 't' || c == 'n'; };
    const bool closed = name[at + 3] == '_' || name[at + 3] == '>' || name[at + 3] == ':';
    if (name[at] == '_' && letter(name[at + 1]) && letter(name[at + 2]) && closed) {
      out.transpose_a = name[at + 1] == 't';
      out.transpose_b = name[at + 2] == 't';
      return;
    }
  }
}

/// Reads the layout letters at the end of names such as "ampere_sgemm_128x64_tn", if there are no
/// layout letters in the middle.
void last_layout_letters(std::string_view name, GemmKernel& out) {
  if (out.transpose_a || name.size() <= 3 || name[name.size() - 3] != '_' ||
      (name.back() != 'n' && name.back() != 't'))
    return;
  out.transpose_a = name[name.size() - 2] == 't';
  out.transpose_b = name.back() == 't';
}

GemmKernel kernel_of(GemmLibrary library) {
  GemmKernel out;
  out.library = library;
  return out;
}

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return contains(text, part); });
}

/// Parts of lower-case names that contain GEMM or a similar text, but are not matrix products.
constexpr std::array<std::string_view, 21> kNoGemm = {
    // convolution: cuDNN, CUTLASS, MIOpen, CK
    "implicit_gemm", "implicitgemm", "igemm_fwd", "igemm_bwd", "igemm_wrw", "grouped_conv",
    "conv_fwd", "conv_bwd", "convolution", "conv2d", "conv3d", "bwd_weight", "bwd_data",
    // attention built from GEMM blocks
    "attention", "attn", "flash", "fmha",
    // steps before or after the product
    "splitkreduce", "reducesplitk", "splitk_reduce", "rocblas_gemm_scale"};

/// Returns whether a name contains "gemm" (not only in "fbgemm"), or "wvsplitk", the products with
/// few rows of vLLM for ROCm.
bool says_gemm(std::string_view lower) {
  for (std::size_t at = lower.find("gemm"); at != std::string_view::npos;
       at = lower.find("gemm", at + 1))
    if (at < 2 || lower.substr(at - 2, 2) != "fb")
      return true;
  return contains(lower, "wvsplitk");
}

GemmLibrary library_of(std::string_view lower) {
  constexpr std::array<std::string_view, 3> kCk = {"ck::", "ck_tile", "_zn2ck"};
  constexpr std::array<std::string_view, 12> kCublasWords = {
      "cublas",    "sgemm",    "hgemm",   "dgemm",  "s884gemm", "1688gemm",
      "16816gemm", "maxwell_", "pascal_", "volta_", "turing_",  "ampere_"};
  if (contains(lower, "cutlass"))
    return GemmLibrary::kCutlass;
  if (contains_any(lower, kCk))
    return GemmLibrary::kComposableKernel;
  return contains_any(lower, kCublasWords) ? GemmLibrary::kCublas : GemmLibrary::kOther;
}

/// Returns whether a Triton kernel is a matrix product. Inductor names a kernel after all operators
/// that are fused in it: "triton_poi_fused_addmm_relu_0" is not a product; it only adds the bias.
/// Products are the templates (triton_tem_) and kernels that are named after the product only.
bool triton_product(std::string_view lower) {
  constexpr std::string_view kTriton = "triton_";
  std::string_view rest = lower.substr(std::min(kTriton.size(), lower.size()));
  const bool fused = rest.substr(0, 4) == "tem_";
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find('_'));
    if (word == "mm" || word == "bmm" || word == "addmm" || word == "baddbmm" || word == "matmul" ||
        says_gemm(word))
      return true;
    if (!fused)
      return false;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return false;
}

/// Parts of lower-case names of kernels that communicate with other GPUs. The list contains only
/// names that libraries use for such kernels. "allreduce" alone is not in the list, because it is
/// also a step within a block (WarpAllReduce, BlockAllReduce); "combine" and "dispatch" also occur
/// in attention and sorting.
constexpr std::array<std::string_view, 24> kCommunication = {
    // NCCL, RCCL; MSCCL and MSCCL++
    "nccl", "rccl", "msccl",
    // custom all-reduce of vLLM, SGLang and AITER; quick reduce
    "cross_device_reduce", "cross_device_store", "custom_all_reduce", "customallreduce",
    "quickreduce", "quick_reduce",
    // one-shot and two-shot all-reduce: symmetric memory of PyTorch, TensorRT-LLM, FlashInfer
    "one_shot_all_reduce", "two_shot_all_reduce", "oneshotallreduce", "twoshotallreduce",
    "hybridcubemeshallreduce", "allreduce_fusion", "allreducefusion", "multimem_",
    // exchange of tokens between experts: DeepEP (not its layout kernel, which only counts tokens),
    // MoRI
    "deep_ep::", "epdispatchint", "epdispatchlowlatency", "epcombineint", "epcombinelowlatency",
    // one-sided communication
    "nvshmem", "rocshmem"};

constexpr std::array<std::string_view, 3> kReferenceCommunication = {"rccl", "nccl",
                                                                     "cross_device_reduce"};

GemmKernel tensile_kernel(std::string_view name, std::size_t at) {
  GemmKernel out = kernel_of(GemmLibrary::kTensile);
  if (contains(name, "_Alik_"))
    out.transpose_a = true;
  else if (contains(name, "_Ailk_"))
    out.transpose_a = false;
  if (contains(name, "_Bljk_"))
    out.transpose_b = false;
  else if (contains(name, "_Bjlk_"))
    out.transpose_b = true;
  if (at + 15 < name.size() && name[at + 14] == '_') {
    const std::string_view rest = name.substr(at + 15);
    out.types = std::string(rest.substr(0, rest.find('_')));
  }
  tile_after(name, "_MT", out);
  return out;
}

/// Reads nvjet_tst_128x64_64x8_..._TNT: token 1 = types, token 2 = tile, last token = transposes.
GemmKernel nvjet_kernel(std::string_view name) {
  GemmKernel out = kernel_of(GemmLibrary::kNvjet);
  const std::string_view last = name.substr(name.rfind('_') + 1);
  if (last.size() >= 2) {
    out.transpose_a = last[0] == 'T';
    out.transpose_b = last[1] == 'T';
  }
  if (name.size() > 6) {
    const std::size_t second = name.find('_', 6);
    out.types = std::string(name.substr(6, second == std::string_view::npos ? second : second - 6));
    if (second != std::string_view::npos)
      read_tile(name, second + 1, out);
  }
  return out;
}

GemmKernel xmma_kernel(std::string_view name) {
  GemmKernel out = kernel_of(GemmLibrary::kXmma);
  const std::size_t at = name.find("xmma_gemm_");
  layout_letters(name, out);
  if (at != std::string_view::npos && at + 10 < name.size()) {
    std::string_view rest = name.substr(at + 10);
    for (const std::string_view stop : {"_tn_", "_nn_", "_nt_", "_tt_"})
      rest = rest.substr(0, rest.find(stop));
    out.types = std::string(rest);
  }
  tile_after(name, "tilesize", out);
  return out;
}

} // namespace

bool is_communication_name(std::string_view name, bool as_reference) {
  const std::string lower = lowercase(name);
  if (as_reference)
    return contains_any(lower, kReferenceCommunication);
  return contains_any(lower, kCommunication) && !contains(lower, "get_dispatch_layout");
}

std::vector<bool> communication_names(const StringPool& strings, bool as_reference) {
  std::vector<bool> out(strings.size());
  for (StrId id = 0; id < strings.size(); ++id)
    out[id] = is_communication_name(strings.view(id), as_reference);
  return out;
}

std::string_view gemm_library_name(GemmLibrary library) {
  switch (library) {
  case GemmLibrary::kTensile:
    return "Tensile";
  case GemmLibrary::kNvjet:
    return "nvjet";
  case GemmLibrary::kXmma:
    return "xmma";
  case GemmLibrary::kCutlass:
    return "CUTLASS";
  case GemmLibrary::kCublas:
    return "cuBLAS";
  case GemmLibrary::kComposableKernel:
    return "CK";
  case GemmLibrary::kTriton:
    return "Triton";
  case GemmLibrary::kOther:
    return "other";
  }
  return "";
}

std::optional<GemmKernel> parse_gemm_kernel(std::string_view name) {
  if (const std::size_t at = tensile_head(name); at != std::string_view::npos)
    return tensile_kernel(name, at);
  if (name.substr(0, 5) == "nvjet")
    return nvjet_kernel(name);
  const std::string lower = lowercase(name);
  if (is_communication_name(name) || contains_any(lower, kNoGemm))
    return std::nullopt;
  if (name.substr(0, 6) == "triton")
    return triton_product(lower) ? std::optional(kernel_of(GemmLibrary::kTriton)) : std::nullopt;
  if (!says_gemm(lower))
    return std::nullopt;
  if (contains(lower, "xmma_gemm"))
    return xmma_kernel(name);
  GemmKernel out = kernel_of(library_of(lower));
  if (out.library == GemmLibrary::kCutlass || out.library == GemmLibrary::kCublas) {
    layout_letters(name, out);
    if (out.library == GemmLibrary::kCublas)
      last_layout_letters(name, out);
    for (std::size_t at = name.find('_'); at != std::string_view::npos && out.tile_m == 0;
         at = name.find('_', at + 1))
      read_tile(name, at + 1, out);
  }
  return out;
}

bool is_gemm_kernel(std::string_view name) {
  return parse_gemm_kernel(name).has_value();
}

std::string gemm_transpose_repr(std::string_view name) {
  const bool nvjet = name.substr(0, 5) == "nvjet";
  if (!nvjet && tensile_head(name) == std::string_view::npos)
    return "";
  const auto kernel = parse_gemm_kernel(name);
  if (!kernel)
    return "";
  const auto text = [](const std::optional<bool>& flag) {
    return flag ? (*flag ? "True" : "False") : "None";
  };
  return std::string("(") + text(kernel->transpose_a) + ", " + text(kernel->transpose_b) + ")";
}

} // namespace rankscope
