// Classifies kernels by name: the kind of work, and the name without the parts that depend on
// shapes. Both help to find the same kernel of a model at other batch sizes.
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
  kOther, ///< the name does not show a known kind
};
inline constexpr std::size_t kKernelFamilies = static_cast<std::size_t>(KernelFamily::kOther) + 1;
/// Returns "GEMM", "attention", "norm", "elementwise", "reduce", "copy", "communication" or
/// "other".
[[nodiscard]] std::string_view kernel_family_name(KernelFamily family);

/// Classifies a kernel by its name only. Returns the first match in this order: communication,
/// attention, GEMM (also matrix-vector products and grouped products of experts), norm, copy,
/// reduce, elementwise.
[[nodiscard]] KernelFamily kernel_family(std::string_view name);

/// Returns the name in lower case, with '#' instead of each number and without "_<number>" at the
/// end. Example: "_matmul_ogs_NNT_bf16xbf16_16x128x256x1" and "..._64x128x256x1" become equal.
/// Different names of GEMM or attention kernels do not become equal (see kernel_kind()).
[[nodiscard]] std::string kernel_stem(std::string_view name);

/// Returns a class of kernel names; at different batch sizes, one operator may launch different
/// kernels of the class. For GEMM and attention kernels, it is "GEMM" or "attention". For other
/// kernels, and for kernels that finish a GEMM or attention, it is the stem without template
/// arguments. Example: "void cutlass::Kernel<...>(...)" and "nvjet_tst_64x8" are both "GEMM".
[[nodiscard]] std::string kernel_kind(std::string_view name);

/// Returns whether a kernel only finishes the work of the kernel before it, so that it occurs only
/// with some shapes. Examples: the sum of a split-K product, or of attention over several parts of
/// the cache.
[[nodiscard]] bool finishes_another(std::string_view name);

} // namespace rankscope
