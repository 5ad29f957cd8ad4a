// Use case: analyse a sweep. Parses each trace of every configuration and rank below a folder once.
// Writes all reports, tables, plots and the page of the sweep.
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
  std::string folder;        ///< the sweep
  std::string label;         ///< name of the sweep on pages
  OutputLayout layout{""};   ///< where outputs are written
  std::string merged_folder; ///< empty: no merged traces
  DiscoverOptions discover;
  ReportOptions report; ///< for the individual reports
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  std::optional<AlignMode> align = {}; ///< see AnalyzeRun
  std::uint64_t memory_bytes = 0;
  bool plots = true; ///< draw plots and write the page
  bool svg = false;
  bool force = false;     ///< redo the work of an earlier run
  bool individual = true; ///< write a workbook for each rank
};

/// A sweep on the command line; an empty label means the folder's name.
struct NamedSweep {
  std::string folder, label;
};

/// Returns a request per sweep: `shared` with folder, label, layout and merged_folder filled in.
/// Outputs are written below each sweep (next to a single trace), or to `output`. With several
/// sweeps, each gets a subfolder of `output` named after its label.
[[nodiscard]] std::vector<AnalyzeRequest> requests_for(const AnalyzeRequest& shared,
                                                       const std::vector<NamedSweep>& sweeps,
                                                       const std::string& output, bool merge);

struct AnalyzedSweep {
  std::vector<RunPlan> plans;
  std::vector<ConfigResult> configs; ///< one per plan
  std::size_t redone = 0;            ///< configurations analysed again; the others were unchanged
  std::vector<std::string> outputs;  ///< files about all configurations
  SweepFacts facts;
  Report summary;                  ///< content of summary.xlsx
  std::optional<Error> plot_error; ///< plots or page failed; all other outputs exist
};

/// Returns the options of individual reports, the same as in the scripts that analysed sweeps
/// before: kernels without a launch in the trace are counted, and kernels below 50 us are short
/// kernels.
[[nodiscard]] ReportOptions sweep_report_options();

/// Returns the options that the outputs depend on. An option that names a file includes a mark of
/// the file's content.
[[nodiscard]] std::string options_text(const AnalyzeRequest& request);

/// Analyses the configurations that changed since an earlier run. Writes tables over all
/// configurations, plots, page and manifest. Errors: kUnreadable if no trace could be analysed,
/// kOutput.
Result<AnalyzedSweep> analyze_sweep(Session& ctx, const AnalyzeRequest& request);
/// Analyses the configurations in `plans` the same way.
Result<AnalyzedSweep> analyze_plans(Session& ctx, const AnalyzeRequest& request,
                                    std::vector<RunPlan> plans);

/// Writes the page that compares all sweeps, from `requests` and their results, and returns its
/// path. The path is `page`; if `page` is empty, it is sweep_comparison_report.html in `output`
/// (empty: the current folder). Errors: kOutput.
Result<std::string> write_sides_page(const std::vector<AnalyzeRequest>& requests,
                                     const std::vector<AnalyzedSweep>& sweeps,
                                     const std::string& output, const std::string& page);

/// Returns the table of configurations for the console and summary.md.
[[nodiscard]] Table shown_configurations(const SweepFacts& facts);

} // namespace rankscope
