// Bus-bandwidth factors (docs/reference/collective-formulas.md 4; source: nccl-tests
// PERFORMANCE.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace rankscope {

/// Kinds of collectives. Different names of the same operation are one kind
/// (docs/reference/collective-formulas.md 4).
enum class CollectiveKind {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kAllToAllV,
  kBroadcast,
  kReduce,
  kSend,
  kRecv,
  kBarrier,
  kOther
};

[[nodiscard]] CollectiveKind collective_kind(std::string_view collective_name);
[[nodiscard]] std::string_view collective_kind_name(CollectiveKind kind);
/// Returns the factor bus bandwidth / algorithm bandwidth for a group of n ranks; e.g. allreduce, n
/// = 8: 2*7/8 = 1.75.
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, std::int64_t n);
/// Returns the bytes per element of a c10d dtype name ("Float", "BFloat16", "Float8_e4m3fn"); 0 =
/// unknown.
[[nodiscard]] int dtype_bytes(std::string_view dtype);

} // namespace rankscope
