// The sheets of a comparison of runs: views of its facts. Labels are the documented headers.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns Summary_Dashboard with charts. Columns: Metric, Unit, the baseline. For each test:
/// value, improvement, status, the change of the samples' means with its interval, and the number
/// of samples.
[[nodiscard]] Table dashboard_table(const Comparison& comparison);

/// Returns What_Changed of test `i`; with `all` also the rows without a significant change. The
/// table has no rows if WhatChanged::known is false.
[[nodiscard]] Table changes_table(const Comparison& comparison, std::size_t i, bool all);

/// These return Comparison_By_Rank and Summary_Comparison of test `i`.
[[nodiscard]] Table timeline_by_rank_table(const Comparison& comparison, std::size_t i);
[[nodiscard]] Table timeline_mean_table(const Comparison& comparison, std::size_t i);

/// These return nccl_implicit_sync_cmp and nccl_long_cmp of test `i`; without rows if neither run
/// has rows.
[[nodiscard]] Table collectives_cmp_table(const Comparison& comparison, std::size_t i);
[[nodiscard]] Table rank_collectives_cmp_table(const Comparison& comparison, std::size_t i);

/// Returns Summary, All_Ranks_Combined, Per_Rank_Time_ms and Per_Rank_Percent of these runs, one
/// run after the other. With `source`, a last column names the run.
[[nodiscard]] std::vector<Table>
timeline_summary_tables(const std::vector<const ComparedRun*>& runs, bool geomean, bool source);

/// Returns nccl_summary_implicit_sync and nccl_summary_long of these runs, one run after the other.
/// A last column names the run. A sheet that no run has is left out.
[[nodiscard]] std::vector<Table>
collective_summary_tables(const std::vector<const ComparedRun*>& runs);

/// Returns the workbook of a comparison: Summary_Dashboard, What_Changed, the raw sheets (hidden),
/// GPU_ByRank_Cmp, GPU_Summary_Cmp, NCCL_ImplicitSyncCmp, NCCL_LongCmp. With several tests, each
/// test has separate comparison sheets, with its label after the sheet name. Every table is styled.
[[nodiscard]] Report final_report(const Comparison& comparison);

/// Returns the baseline, then the tests.
[[nodiscard]] std::vector<const ComparedRun*> runs_of(const Comparison& comparison);
/// Returns the suffix of the sheet names: "_LABEL" of test `i` if there are several, else "".
[[nodiscard]] std::string sheet_suffix(const Comparison& comparison, std::size_t i);
/// Returns "Better", ..., "only in LABEL".
[[nodiscard]] std::string verdict_text(Verdict verdict, const std::string& base,
                                       const std::string& test);

} // namespace rankscope
