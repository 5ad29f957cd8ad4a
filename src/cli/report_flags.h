// The flags of `rankscope report`.
#pragma once

#include "app/report_trace.h"
#include "cli/flag_set.h"

#include <string>
#include <vector>

namespace rankscope {

struct ReportFlags {
  std::vector<std::string> traces;
  std::vector<std::string> sheets;
  Compat compat = Compat::kNone;
  bool include_unlinked_kernels = false;
  bool no_kernel_summary = false;
  bool no_short_kernels = false;
  bool no_coll_analysis = false;
  ReportRequest request;
};

/// Declares the flags, including those of the script that this command replaces; `flags` must
/// outlive parsing.
void add_report_flags(FlagSet& app, ReportFlags& flags);

/// Returns the request for one trace, without its path.
[[nodiscard]] ReportRequest report_request(const ReportFlags& flags);

} // namespace rankscope
