// The kind of work that a kernel's name shows, and the name without the parts that change with
// shapes. Both serve to recognise the kernels of a model at other batch sizes.
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
  kOther, ///< the name shows no known kind
};
inline constexpr std::size_t kKernelFamilies = static_cast<std::size_t>(KernelFamily::kOther) + 1;
/// Returns "GEMM", "attention", "norm", "elementwise", "reduce", "copy", "communication" or
/// "other".
[[nodiscard]] std::string_view kernel_family_name(KernelFamily family);

/// Classifies a kernel by its name alone. Returns the first match in this order: communication,
/// attention, GEMM (also products with a vector and grouped products of experts), norm, copy,
/// reduce, elementwise.
[[nodiscard]] KernelFamily kernel_family(std::string_view name);

/// Returns the name in lower case with '#' for runs of digits and without "_<number>" at the end.
/// Example: "_matmul_ogs_NNT_bf16xbf16_16x128x256x1" and "..._64x128x256x1" become equal. Products
/// and attention do not get one common name here (see kernel_kind()).
[[nodiscard]] std::string kernel_stem(std::string_view name);

/// Returns the widest class of kernel names that one operator may have. For products and attention
/// it is "GEMM" and "attention". For others, and for kernels that finish these two, it is the stem
/// without template arguments. Example: "void cutlass::Kernel<...>(...)" and "nvjet_tst_64x8" are
/// both "GEMM".
[[nodiscard]] std::string kernel_kind(std::string_view name);

/// Returns whether a kernel only finishes the work of the kernel before it, so that it occurs only
/// with some shapes. Examples: sums of split products, or of attention over parts of the cache.
[[nodiscard]] bool finishes_another(std::string_view name);

} // namespace rankscope
