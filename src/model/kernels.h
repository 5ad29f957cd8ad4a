// Reads from a kernel's name whether it communicates, whether it is a matrix product, and the
// transposes, macro tile and data types of the product. All sheets use these functions.
#pragma once

#include "base/string_pool.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Returns whether a name (in any case) is that of a communication kernel: it contains rccl, nccl
/// or cross_device_reduce, as in the reference, or a name from another library
/// (docs/reference/report-rules.md 2). `as_reference`: test only the first three names.
[[nodiscard]] bool is_communication_name(std::string_view name, bool as_reference = false);
/// Returns is_communication_name() for each id of a pool, so that a loop over events only has to
/// test a bit.
[[nodiscard]] std::vector<bool> communication_names(const StringPool& strings,
                                                    bool as_reference = false);

enum class GemmLibrary {
  kTensile, ///< rocBLAS and hipBLASLt
  kNvjet,
  kXmma,
  kCutlass,
  kCublas,
  kComposableKernel,
  kTriton,
  kOther, ///< the name contains GEMM, but the library is unknown
};
[[nodiscard]] std::string_view gemm_library_name(GemmLibrary library);

struct GemmKernel {
  GemmLibrary library = GemmLibrary::kTensile;
  std::optional<bool> transpose_a;
  std::optional<bool> transpose_b;
  std::int64_t tile_m = 0; ///< macro tile; 0 = not in the name
  std::int64_t tile_n = 0;
  std::int64_t tile_k = 0;
  std::string types; ///< as written in the name: "BBS", "bf16bf16_bf16f32"; may be empty
};

/// Returns the matrix-matrix product that a kernel name describes, or nullopt. The following
/// kernels are not products, even if their names contain GEMM: convolutions by implicit GEMM,
/// attention, communication, matrix-vector products (gemv), and steps before or after a GEMM
/// (split-K sums, scaling). Most kernels of the library "fbgemm" are not products. Example:
/// "Custom_Cijk_Alik_Bljk_BBS_BH_MT64x64x64" is a product, and
/// "sm80_xmma_wgrad_implicit_gemm_tf32f32_..." is not.
[[nodiscard]] std::optional<GemmKernel> parse_gemm_kernel(std::string_view name);
[[nodiscard]] bool is_gemm_kernel(std::string_view name);

/// Returns the transposes as Python text for the two name forms that the reference reads (Tensile,
/// nvjet); else an empty text. Example: "Cijk_Alik_Bljk_BBS_BH_MT256x192x64" -> "(True, False)".
[[nodiscard]] std::string gemm_transpose_repr(std::string_view name);

} // namespace rankscope
