// What kind of work a kernel's name tells of, and the name without what changes with shapes: by
// these two, kernels of one model at other batch sizes are recognised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope {

enum class KernelFamily : std::uint8_t {
  kGemm,
  kAttention,
  kNorm,
  kElementwise,
  kReduce,
  kCopy,
  kCommunication,
  kOther, ///< the name tells nothing that we know
};
inline constexpr std::size_t kKernelFamilies = static_cast<std::size_t>(KernelFamily::kOther) + 1;
/// "GEMM", "attention", "norm", "elementwise", "reduce", "copy", "communication", "other".
[[nodiscard]] std::string_view kernel_family_name(KernelFamily family);

/// By the name alone; the first of communication, attention, GEMM (products with a vector and
/// grouped products of experts too), norm, copy, reduce, elementwise that it tells of.
[[nodiscard]] KernelFamily kernel_family(std::string_view name);

/// The name in lower case without runs of digits and what ends in "_<number>". Example:
/// "_matmul_ogs_NNT_bf16xbf16_16x128x256x1" and "..._64x128x256x1" become one. Products, and
/// attention, keep their own names here.
[[nodiscard]] std::string kernel_stem(std::string_view name);

/// The widest class of names that may stand for one operator: "GEMM" and "attention" for those two
/// families, else (and for what finishes one of them) the stem without template arguments. Example:
/// "void cutlass::Kernel<...>(...)" and "nvjet_tst_64x8" are both "GEMM".
[[nodiscard]] std::string kernel_kind(std::string_view name);

/// A kernel that only finishes what the one before it began, so that some shapes have it and some
/// do not: sums of products that were split, of attention over parts of the cache.
[[nodiscard]] bool finishes_another(std::string_view name);

} // namespace rankscope
