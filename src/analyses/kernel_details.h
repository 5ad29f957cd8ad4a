// Kernel lists of a group of operator calls as the reference prints them (perf-report.md 1.2).
#pragma once

#include "core/loaded_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The two texts kernel_details_summary and trunc_kernel_details for a group of calls; each call is
/// its list of kernels in start order. The first non-empty list is the template; lists of another
/// length are left out.
struct KernelDetails {
  std::string summary;
  std::string truncated;
};
[[nodiscard]] KernelDetails kernel_details(const Trace& trace,
                                           const std::vector<std::span<const EventId>>& calls);
/// A kernel's name as the trunc_ columns write it: 64 characters and "...".
[[nodiscard]] std::string truncated_name(std::string_view name);

} // namespace rankscope
