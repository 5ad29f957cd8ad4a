// The kind of work that a kernel's name shows, and the name without parts that change with shapes.
// Both serve to recognise the kernels of a model at other batch sizes.
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
/// "GEMM", "attention", "norm", "elementwise", "reduce", "copy", "communication", "other".
[[nodiscard]] std::string_view kernel_family_name(KernelFamily family);

/// Classifies by the name alone; returns the first that matches of communication, attention, GEMM
/// (products with a vector and grouped products of experts too), norm, copy, reduce, elementwise.
[[nodiscard]] KernelFamily kernel_family(std::string_view name);

/// Returns the name in lower case with '#' for runs of digits and without "_<number>" at the end.
/// Example: "_matmul_ogs_NNT_bf16xbf16_16x128x256x1" and "..._64x128x256x1" become equal. Products
/// and attention keep their names here.
[[nodiscard]] std::string kernel_stem(std::string_view name);

/// Returns the widest class of names that one operator may have: "GEMM" and "attention" for those
/// two families, else (and for kernels that finish them) the stem without template arguments.
/// Example: "void cutlass::Kernel<...>(...)" and "nvjet_tst_64x8" are both "GEMM".
[[nodiscard]] std::string kernel_kind(std::string_view name);

/// A kernel that only finishes what the one before it began, so that some shapes have it and some
/// do not: sums of products that were split, of attention over parts of the cache.
[[nodiscard]] bool finishes_another(std::string_view name);

} // namespace rankscope
