// What the name of a GEMM kernel says: transposes, macro tile, data types (perf-report.md 1.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

enum class GemmLibrary { kTensile, kNvjet, kXmma, kCutlass, kCublas, kComposableKernel, kTriton };
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

/// nullopt when the name is not one of a known GEMM kernel.
[[nodiscard]] std::optional<GemmKernel> parse_gemm_kernel(std::string_view name);

/// "(True, False)" for the two naming schemes that the reference reads (Tensile, nvjet); else
/// empty. Example: "Cijk_Alik_Bljk_BBS_BH_MT256x192x64" -> "(True, False)".
[[nodiscard]] std::string gemm_transpose_repr(std::string_view name);

} // namespace rankscope
