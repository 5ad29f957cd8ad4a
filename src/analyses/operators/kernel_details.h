// Kernel lists of operator calls as the reference prints them (docs/reference/report-rules.md 9).
#pragma once

#include "analyses/group_stats.h"
#include "core/loaded_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The texts of kernel_details_summary and trunc_kernel_details for a group of calls. Each call is
/// a list of kernels in start order. Kernels at one place of the calls with the same name and
/// stream form an entry.
struct KernelDetails {
  std::string summary;
  std::string truncated;
  std::vector<EventId> kernels; ///< kernels of the first call with kernels, in this order
};
/// `compat`: names and streams are those of the first call with kernels, and calls with another
/// number of kernels are left out.
[[nodiscard]] KernelDetails
kernel_details(const Trace& trace, const std::vector<std::span<const EventId>>& calls, bool compat);
/// Adds the columns of both texts.
template <class Row> void add_detail_columns(Schema<Row>& schema, KernelDetails Row::*details) {
  schema.add({"kernel_details", "kernel_details_summary", Unit::kNone,
              [details](const Row& r) { return std::string_view((r.*details).summary); },
              "Python list of the kernels of the calls, each with its own count and times",
              ColumnStyle{.nested = true}});
  schema.add(
      {"kernel_details_short", "trunc_kernel_details", Unit::kNone,
       [details](const Row& r) { return std::string_view((r.*details).truncated); },
       "list of the kernels of the calls, with names cut to 64 characters and only mean times",
       ColumnStyle{.nested = true}});
}
/// Returns the Python dict of one kernel in those texts, from its durations in us. `more` is a text
/// such as ", 'key': value", which is added at the end. short_kernel_entry() shows only 64
/// characters of the name, and of the durations only the mean.
[[nodiscard]] std::string kernel_entry(std::string_view name, std::int32_t stream, const Stats& us,
                                       const std::string& more = "");
[[nodiscard]] std::string short_kernel_entry(std::string_view name, std::int32_t stream,
                                             const Stats& us, const std::string& more = "");

} // namespace rankscope
