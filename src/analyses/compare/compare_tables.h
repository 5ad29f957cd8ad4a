// The sheets of a comparison of runs: views of its facts. Labels are the documented headers.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns Summary_Dashboard with charts: Metric, Unit, the baseline, then per test its value,
/// improvement, status, the change of the samples' means with its interval, and their number.
[[nodiscard]] Table dashboard_table(const Comparison& comparison);

/// Returns What_Changed of test `i`; with `all` also the rows without a significant change. No rows
/// if nothing is known.
[[nodiscard]] Table changes_table(const Comparison& comparison, std::size_t i, bool all);

/// Comparison_By_Rank and Summary_Comparison of test `i`.
[[nodiscard]] Table timeline_by_rank_table(const Comparison& comparison, std::size_t i);
[[nodiscard]] Table timeline_mean_table(const Comparison& comparison, std::size_t i);

/// nccl_implicit_sync_cmp and nccl_long_cmp of test `i`; without rows when neither run has any.
[[nodiscard]] Table collectives_cmp_table(const Comparison& comparison, std::size_t i);
[[nodiscard]] Table rank_collectives_cmp_table(const Comparison& comparison, std::size_t i);

/// Summary, All_Ranks_Combined, Per_Rank_Time_ms, Per_Rank_Percent of these runs, one after the
/// other; with `source` a last column that names the run.
[[nodiscard]] std::vector<Table>
timeline_summary_tables(const std::vector<const ComparedRun*>& runs, bool geomean, bool source);

/// nccl_summary_implicit_sync, nccl_summary_long of these runs, one after the other, with `source`;
/// a sheet that no run has is left out.
[[nodiscard]] std::vector<Table>
collective_summary_tables(const std::vector<const ComparedRun*>& runs);

/// The workbook of a comparison: Summary_Dashboard, What_Changed, the raw sheets (hidden),
/// GPU_ByRank_Cmp, GPU_Summary_Cmp, NCCL_ImplicitSyncCmp, NCCL_LongCmp; with several tests the
/// comparison sheets come once for each, its label behind the name. Every table styled.
[[nodiscard]] Report final_report(const Comparison& comparison);

/// The baseline, then the tests.
[[nodiscard]] std::vector<const ComparedRun*> runs_of(const Comparison& comparison);
/// Returns the suffix of the sheet names: "_LABEL" of test `i` if there are several, else "".
[[nodiscard]] std::string sheet_suffix(const Comparison& comparison, std::size_t i);
/// "Better", ..., "only in LABEL".
[[nodiscard]] std::string verdict_text(Verdict verdict, const std::string& base,
                                       const std::string& test);

} // namespace rankscope
