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
  TopRequest run;      ///< inputs, discovery, what is counted; its top_k is not used
  std::string output;  ///< HTML file; "-" = standard output
  std::string command; ///< the command line, which the page shows
};

/// The command as its page shows it, of inputs, or of a baseline and the tests after it.
[[nodiscard]] std::string command_of_page(const std::vector<std::string>& inputs,
                                          const std::string& output);
[[nodiscard]] std::string command_of_comparison_page(const std::vector<std::string>& folders,
                                                     const std::string& output);

/// Returns how much of each trace a page may contain for so many ranks: 64 ranks of a million
/// events stay below 20 MB.
[[nodiscard]] PageDetail page_detail(std::size_t ranks);

struct PageResult {
  std::string kind;      ///< "run", "sweep" or "comparison"
  std::size_t ranks = 0; ///< that were read
  std::size_t bytes = 0; ///< of the page
};

/// Reads every trace once and writes the page of a trace or a run. Errors: kMissingTool in a build
/// without ECharts, those of top_of(), kOutput.
Result<PageResult> write_run_page(Session& session, const PageRequest& request);

/// A folder with several configurations: what analyze left there, else every trace is read once.
/// Errors: kMissingTool, kUnreadable when no rank could be read, kOutput.
Result<PageResult> write_sweep_data_page(Session& session, const PageRequest& request);
/// Whether the one input is such a folder.
[[nodiscard]] bool is_sweep(const Session& session, const PageRequest& request);

/// Runs against a baseline, with the verdicts of compare; nothing but the page is written. Errors:
/// kMissingTool, those of load_comparison().
Result<PageResult> write_comparison_page(Session& session, const PageRequest& request,
                                         const CompareRequest& runs);

} // namespace rankscope
