// The names of rocprofv3's CSV tables, and functions to read their fields.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The kinds of tables in the order in which they are read: calls are before the work that they
/// launch.
inline constexpr auto kCsvKinds = std::to_array<std::string_view>(
    {"agent_info", "rccl_api_trace", "rccl_trace", "hip_api_trace", "hip_trace", "hsa_api_trace",
     "hsa_trace", "marker_api_trace", "kernel_trace", "memory_copy_trace",
     "memory_allocation_trace", "scratch_memory_trace", "counter_collection",
     "pc_sampling_host_trap", "pc_sampling_stochastic"});

[[nodiscard]] std::string_view file_name_of(std::string_view path);

/// Returns the part of a path before the kind of the table: "run/77_" for
/// "run/77_hip_api_trace.csv.gz". Returns nullopt if the name does not contain a kind.
[[nodiscard]] std::optional<std::string> prefix_of(std::string_view path);

/// Returns the agent number in "Agent 4", or in "4", which the tool writes for other kinds of agent
/// numbers.
[[nodiscard]] std::int64_t agent_number(std::string_view text);

/// Returns the number if the text is a finite number.
[[nodiscard]] std::optional<double> as_real(std::string_view text);

/// Returns the address if the text is an address such as "0x00007ffb26354000".
[[nodiscard]] std::optional<std::uint64_t> address_of(std::string_view text);

} // namespace rankscope
