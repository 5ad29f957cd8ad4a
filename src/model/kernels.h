// What the name of a kernel says: whether it communicates, whether it is a matrix product, and a
// product's transposes, macro tile and data types. The one rule for names: every sheet asks here.
#pragma once

#include "base/string_pool.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Communication kernel, in any case: rccl, nccl and cross_device_reduce, as the reference reads
/// names, and what other libraries call theirs (docs/reference/report-rules.md 2).
/// `as_reference`: those three alone.
[[nodiscard]] bool is_communication_name(std::string_view name, bool as_reference = false);
/// is_communication_name for each id of a pool, so that loops over events test a bit.
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
  kOther, ///< the name says GEMM and no library that we know
};
[[nodiscard]] std::string_view gemm_library_name(GemmLibrary library);

struct GemmKernel {
  GemmLibrary library = GemmLibrary::kTensile;
  std::optional<bool> transpose_a;
  std::optional<bool> transpose_b;
  std::int64_t tile_m = 0; ///< macro tile; 0 = the name does not say
  std::int64_t tile_n = 0;
  std::int64_t tile_k = 0;
  std::string types; ///< as written in the name: "BBS", "bf16bf16_bf16f32"; may be empty
};

/// The product of two matrices by the name of its kernel, or nullopt. No GEMM, whatever their names
/// say: convolutions done by implicit GEMM, attention, communication, products with a vector
/// (gemv), and what a GEMM runs before or after itself (split-K sums, scaling). "fbgemm" is the
/// name of a library whose kernels are mostly none. Example:
/// "Custom_Cijk_Alik_Bljk_BBS_BH_MT64x64x64" is one, "sm80_xmma_wgrad_implicit_gemm_tf32f32_..." is
/// none.
[[nodiscard]] std::optional<GemmKernel> parse_gemm_kernel(std::string_view name);
[[nodiscard]] bool is_gemm_kernel(std::string_view name);

/// "(True, False)" for the two naming schemes that the reference reads (Tensile, nvjet); else
/// empty. Example: "Cijk_Alik_Bljk_BBS_BH_MT256x192x64" -> "(True, False)".
[[nodiscard]] std::string gemm_transpose_repr(std::string_view name);

} // namespace rankscope
