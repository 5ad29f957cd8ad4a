// The --json output of commands that make data: metrics as numbers, files with their sizes, and
// warnings.
#pragma once

#include "app/batch.h"
#include "app/merge.h"
#include "app/sweep.h"
#include "collect/library_perf/perf_rows.h"
#include "collect/library_trace/library_trace.h"
#include "core/report.h"
#include "synth/synth.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// Returns a table `merged` with a row for each run, and the files.
[[nodiscard]] Report merge_report(const std::vector<MergedRun>& runs);
[[nodiscard]] Report synth_report(const std::string& folder, const synth::Summary& made,
                                  double seconds);
/// Returns a table `reports` with a row for each folder; list cells are JSON lists.
[[nodiscard]] Report batch_report(const std::string& base, const std::vector<BatchReport>& reports);
/// Returns a table `runs` with a row for each setting, and the findings of the sweep.
[[nodiscard]] Report sweep_report(const FinishedSweep& sweep);
/// Returns the number of configurations per final status. `table` is the path of the table file.
[[nodiscard]] Report library_perf_report(const std::string& table,
                                         const std::map<std::string, std::size_t>& by_status);
[[nodiscard]] Report perf_comparison_report(const std::string& table, const PerfComparison& made);
[[nodiscard]] Report library_trace_report(const std::vector<std::string>& tables,
                                          const LibraryTraceSummary& read, double seconds);

} // namespace rankscope
