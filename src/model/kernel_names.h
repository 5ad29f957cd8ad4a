// Short names of kernels for tables; within one table, different kernels have different names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

constexpr std::size_t kDisplayNameWidth = 56; ///< maximum number of characters of display_name()

/// Returns a short name for a kernel: library, transposes, type, tile, extras
/// (docs/reference/kernel-names.md). It depends only on the full name, and different kernels can
/// have the same short name. Examples: "Cijk_Alik_Bljk_BBS_BH_Bias_..._MT256x192x64_..." is
/// "Tensile TN bf16 256x192x64 bias"; "void vllm::rms_norm_kernel<float, 8>(float*)" is
/// "vllm::rms_norm f32 8".
[[nodiscard]] std::string display_name(std::string_view full);

/// Returns the names that a table shows, in the same order. If different full names have the same
/// shown name, words in which the full names differ are appended, or "~" and digits of their hash.
/// So two entries are equal only if their full names are equal.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& shown,
                                                      const std::vector<std::string_view>& full);
/// Returns the distinct names of kernels, from their display names.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string_view>& full);

/// Returns the last cells of the rows of a table, in the same order. `rows`: the other cells that
/// the row shows. Cells of rows that show the same text become distinct as in distinct_names().
/// `full`: the full texts of the rows.
[[nodiscard]] std::vector<std::string> distinct_cells(const std::vector<std::string>& rows,
                                                      const std::vector<std::string>& shown,
                                                      const std::vector<std::string>& full);

/// Names of the parts of a row for a kernel without an operator: the launch and the kernel.
struct KernelRowName {
  std::string_view launch, kernel;
};
/// Returns "LAUNCH->KERNEL (Synthetic Op)", the name of such a row in the reference.
[[nodiscard]] std::string kernel_row_name(const KernelRowName& row);
/// Returns the two parts of such a name, as views of it. Empty if the name is that of an operator.
[[nodiscard]] std::optional<KernelRowName> kernel_row_of(std::string_view name);

} // namespace rankscope
