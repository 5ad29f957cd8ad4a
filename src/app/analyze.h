// Use case: analyse a sweep. Every configuration and rank below a folder, each trace parsed once;
// all reports, tables, plots and the page of the sweep.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "app/analyze_state.h"
#include "base/result.h"
#include "core/output_layout.h"
#include "core/report.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct AnalyzeRequest {
  std::string folder;        ///< of the sweep
  std::string label;         ///< its name on pages
  OutputLayout layout{""};   ///< where outputs go
  std::string merged_folder; ///< empty: no merged traces
  DiscoverOptions discover;
  ReportOptions report; ///< of the individual reports
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  std::optional<AlignMode> align = {}; ///< see AnalyzeRun
  std::uint64_t memory_bytes = 0;
  bool plots = true; ///< and the page
  bool svg = false;
  bool force = false;     ///< redo what an earlier run has done
  bool individual = true; ///< write a workbook for each rank
};

/// A sweep on the command line; an empty label is the folder's name.
struct NamedSweep {
  std::string folder, label;
};

/// Returns a request per sweep: `shared` with folder, label, layout and merged_folder filled in.
/// Outputs go below each sweep (next to a single trace), or to `output` (for several sweeps, to a
/// folder per label in it).
[[nodiscard]] std::vector<AnalyzeRequest> requests_for(const AnalyzeRequest& shared,
                                                       const std::vector<NamedSweep>& sweeps,
                                                       const std::string& output, bool merge);

struct AnalyzedSweep {
  std::vector<RunPlan> plans;
  std::vector<ConfigResult> configs; ///< one per plan
  std::size_t redone = 0;            ///< configurations, the others were unchanged
  std::vector<std::string> outputs;  ///< files over all configurations
  SweepFacts facts;
  Report summary;                     ///< content of summary.xlsx
  std::optional<Error> picture_error; ///< plots or page failed; all other outputs exist
};

/// Returns the options of individual reports, as in the scripts that sweeps were analysed with:
/// unlinked kernels count, and a kernel below 50 us is short.
[[nodiscard]] ReportOptions sweep_report_options();

/// Returns the options that the outputs depend on; for a file also a mark of its content.
[[nodiscard]] std::string options_text(const AnalyzeRequest& request);

/// Analyses changes since an earlier run; writes tables over all configurations, plots, page and
/// manifest. Errors: kUnreadable if no trace could be analysed, kOutput.
Result<AnalyzedSweep> analyze_sweep(Session& ctx, const AnalyzeRequest& request);
/// Does the same for these configurations.
Result<AnalyzedSweep> analyze_plans(Session& ctx, const AnalyzeRequest& request,
                                    std::vector<RunPlan> plans);

/// Writes the page that compares all sweeps, from `requests` and their results, and returns its
/// path: `page`, or if that is empty, sweep_comparison_report.html in `output` (empty: the current
/// folder). Errors: kOutput.
Result<std::string> write_sides_page(const std::vector<AnalyzeRequest>& requests,
                                     const std::vector<AnalyzedSweep>& sweeps,
                                     const std::string& output, const std::string& page);

/// The configurations as the console and summary.md show them.
[[nodiscard]] Table shown_configurations(const SweepFacts& facts);

} // namespace rankscope
