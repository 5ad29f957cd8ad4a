// Names of kernels for people: short, and distinct within one table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

constexpr std::size_t kDisplayNameWidth = 56; ///< most characters of display_name()
constexpr std::size_t kDistinctNameWidth =
    80; ///< most characters of a name that distinct_names() made distinct

/// Returns a short name for a kernel: library, transposes, type, tile, extras
/// (docs/reference/kernel-names.md). It depends on the name alone, so different kernels can share
/// one. Examples: "Cijk_Alik_Bljk_BBS_BH_Bias_..._MT256x192x64_..." is "Tensile TN bf16 256x192x64
/// bias"; "void vllm::rms_norm_kernel<float, 8>(float*)" is "vllm::rms_norm f32 8".
[[nodiscard]] std::string display_name(std::string_view full);

/// Returns the display names of one table's kernels, in the same order. Full names that share a
/// display name get the parts in which they differ, or "~" and digits of their hash. So entries are
/// equal only if their full names are.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string_view>& full);

/// A row of operators that represents a kernel without an operator.
struct KernelRowName {
  std::string_view launch, kernel;
};
/// Returns "LAUNCH->KERNEL (Synthetic Op)", the reference's name for such a row.
[[nodiscard]] std::string kernel_row_name(const KernelRowName& row);
/// Returns the parts of such a name, which must outlive them. Empty for the name of an operator.
[[nodiscard]] std::optional<KernelRowName> kernel_row_of(std::string_view name);

} // namespace rankscope
