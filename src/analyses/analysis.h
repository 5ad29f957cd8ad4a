// Analyses: pure functions from a LoadedTrace to Tables. Nothing here prints or writes.
#pragma once

#include "base/result.h"
#include "core/loaded_trace.h"
#include "core/report.h"
#include "core/schema.h"

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The values of the report flags, with units in the names.
struct ReportOptions {
  bool include_unlinked_kernels = true; ///< gpu_timeline counts GPU work without a launch
  bool memset_as_memory = false; ///< gpu_timeline: memsets count as copies, not as computation
  double micro_idle_us = 0;      ///< 0 = one idle_time row
  bool kernel_summary = true;
  bool short_kernels = true;
  double short_kernel_threshold_us = 10;
  int short_kernel_bins = 100;
  std::size_t top_k_short_kernels = 0; ///< 0 = all
  bool clip_overruns = false;
  std::size_t top_k = 0; ///< rows of kernel_summary and ops_summary, 0 = all
  std::size_t top_k_ops = 0;
  std::size_t top_k_roofline_ops = 0;
  bool group_by_num_kernels = false;
  bool detect_recompute = false;
  bool include_overlap_info = false;
  bool include_first_occurrence_time = false;
  bool include_call_stack = false;
  bool group_by_parent_module = false;
  bool module_path = false; ///< with group_by_parent_module: all modules around an operator, not
                            ///< only the innermost
  bool enable_pseudo_ops = false;
  bool coll_analysis = true;
  bool compat_tracelens = false; ///< reproduce the reference's quirks exactly
  bool compat_inference = false; ///< with compat_tracelens: also the quirks of its inference report
  bool legacy_gemm_layout = false; ///< --layout 2025-11
  std::string gpu_arch;            ///< file or built-in name
  bool per_step = false;
  std::string step;             ///< "", "N" or "A:B"
  std::set<std::string> sheets; ///< empty = all
  /// A trace of the same model run without graphs. Its launches show the operators that the kernels
  /// of graphs belong to.
  std::shared_ptr<const LoadedTrace> donor;
  /// Adds columns on how a row's kernels were attributed to the row's operator. build_report() sets
  /// this option for traces with graph launches.
  bool graph_columns = false;
};

/// Returns whether these options use Python frames. If so, the trace and its tree should include
/// the frames.
[[nodiscard]] inline bool needs_python(const ReportOptions& options) {
  return options.detect_recompute || options.include_call_stack || options.enable_pseudo_ops ||
         options.group_by_parent_module;
}

/// A group of sheets. Tables are returned in sheet order; the caller drops empty tables.
struct Analysis {
  const char* name;
  const char* help;
  std::vector<std::string_view> sheets; ///< names; empty = all sheets that no other analysis names
  Result<std::vector<Table>> (*run)(const LoadedTrace& trace, const ReportOptions& options);
  /// Returns the sheets and columns for these options; needs no trace.
  std::vector<SheetInfo> (*describe)(const ReportOptions& options);
};

/// Returns all analyses in sheet order.
[[nodiscard]] std::span<const Analysis* const> analyses();

/// Runs every analysis on one trace. Sheets are in the reference's order; `options.sheets` filters
/// them.
Result<Report> build_report(const LoadedTrace& trace, const ReportOptions& options);

#define RANKSCOPE_ANALYSIS(id) extern const Analysis id##_analysis;
#include "analyses/analyses.def"
#undef RANKSCOPE_ANALYSIS

} // namespace rankscope
