// Names of sheets and columns for SQL and JSON.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns the name in snake_case. Examples: "GroupedGEMM_fwd" is "grouped_gemm_fwd", "MoE_fused"
/// is "moe_fused", "bus bw (GB/s)_mean" is "bus_bw_gb_s_mean".
[[nodiscard]] std::string snake_case(std::string_view name);

} // namespace rankscope
