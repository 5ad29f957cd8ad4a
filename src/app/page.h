// Use case: the interactive page of a trace, of a run's ranks, of a sweep or of a comparison.
#pragma once

#include "app/compare.h"
#include "app/top.h"
#include "base/result.h"
#include "engine/session.h"
#include "pages/data/rank_page.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

struct PageRequest {
  TopRequest run;      ///< inputs, discovery and counting options; top_k is not used
  std::string output;  ///< HTML file; "-" = standard output
  std::string command; ///< the command line, which the page shows
};

/// Returns the command line that the page shows: for inputs, or for a baseline and its tests.
[[nodiscard]] std::string command_of_page(const std::vector<std::string>& inputs,
                                          const std::string& output);
[[nodiscard]] std::string command_of_comparison_page(const std::vector<std::string>& folders,
                                                     const std::string& output);

/// Returns how much of each trace a page may contain for this number of ranks: a page of 64 ranks
/// with a million events each stays below 20 MB.
[[nodiscard]] PageDetail page_detail(std::size_t ranks);

struct PageResult {
  std::string kind;      ///< "run", "sweep" or "comparison"
  std::size_t ranks = 0; ///< number of ranks read
  std::size_t bytes = 0; ///< size of the page
};

/// Reads every trace once and writes the page of a trace or a run. Errors: kMissingTool in a build
/// without ECharts, those of top_of(), kOutput.
Result<PageResult> write_run_page(Session& session, const PageRequest& request);

/// Writes the page of a folder with several configurations. Uses the facts that analyze saved
/// there, else reads every trace once. Errors: kMissingTool, kUnreadable if no rank could be read,
/// kOutput.
Result<PageResult> write_sweep_data_page(Session& session, const PageRequest& request);
/// Returns whether the only input is a folder with several configurations.
[[nodiscard]] bool is_sweep(const Session& session, const PageRequest& request);

/// Writes the page of runs against a baseline, with the verdicts of compare. Writes no other file.
/// Errors: kMissingTool, those of load_comparison().
Result<PageResult> write_comparison_page(Session& session, const PageRequest& request,
                                         const CompareRequest& runs);

} // namespace rankscope
