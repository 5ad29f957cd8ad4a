// Names of sheets and columns as SQL and JSON know them.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// "GroupedGEMM_fwd" is "grouped_gemm_fwd", "MoE_fused" "moe_fused", "bus bw (GB/s)_mean"
/// "bus_bw_gb_s_mean".
[[nodiscard]] std::string snake_case(std::string_view name);

} // namespace rankscope
