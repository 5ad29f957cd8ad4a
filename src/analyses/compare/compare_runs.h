// Comparison of runs: GPU timelines and collectives of a baseline and a test, rank by rank and as
// means over ranks, judged with the noise between profiler steps (sweep-and-compare.md 13 to 18).
#pragma once

#include "base/statistics.h"
#include "core/report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope {

/// What a comparison keeps of one rank.
struct RankTimeline {
  Table timeline; ///< columns type, time ms, percent
  /// Milliseconds by type and profiler step; empty without steps.
  std::map<std::string, std::map<std::int64_t, double>> step_ms;
};

/// Name, data type, input elements and process group: what collectives of two runs are joined by.
using CollectiveKey = std::tuple<std::string, std::string, std::int64_t, std::string>;

/// Microseconds, one value per single collective.
struct CollectiveSamples {
  std::vector<double> latency, start_skew;
};

/// One side of a comparison.
struct ComparedRun {
  std::string label;
  std::map<std::int64_t, RankTimeline> ranks;
  Table nccl_summary_implicit_sync; ///< no columns without collectives
  Table nccl_summary_long;
  std::map<CollectiveKey, CollectiveSamples> samples;
};

/// Takes gpu_timeline and, when there, gpu_timeline_per_step of one rank's report.
[[nodiscard]] std::optional<RankTimeline> rank_timeline(const Report& report);

/// Takes the two summaries and the samples of nccl_implicit_sync, when there.
void take_collectives(const Report& report, ComparedRun& run);

/// A difference with its noise. Percentages of the baseline, positive = better.
struct Judgement {
  std::string status; ///< Better, Worse, Similar, New
  std::size_t samples_base = 0, samples_test = 0;
  std::optional<double> step_change; ///< from the means of the samples
  std::optional<double> low, high;   ///< 95 % confidence interval of step_change
};

/// Better or Worse only when the change exceeds the threshold and, with two samples or more on both
/// sides, the 95 % interval of the difference of means (Welch) does not hold 0. The change is that
/// of `base` and `test`, or of the samples when their numbers differ (the windows then differ).
[[nodiscard]] Judgement judge(double base, double test, const std::vector<double>& base_samples,
                              const std::vector<double>& test_samples, double threshold_percent,
                              Better better = Better::kLower);

/// Tables Summary, All_Ranks_Combined, Per_Rank_Time_ms, Per_Rank_Percent of one run.
[[nodiscard]] Report timeline_summary(const ComparedRun& run, bool geomean);

/// Every sheet that a side has: the rows of each side one after the other, last column `source`.
[[nodiscard]] Report combine_reports(const std::vector<const Report*>& sides,
                                     const std::vector<std::string>& labels);

/// Tables Summary_Comparison, Comparison_By_Rank. Rows of one run only are listed, with that said
/// in `status`.
[[nodiscard]] std::vector<Table> compare_timelines(const ComparedRun& base, const ComparedRun& test,
                                                   double threshold_percent);

/// Tables nccl_implicit_sync_cmp, nccl_long_cmp; none when neither run has collectives.
[[nodiscard]] std::vector<Table>
compare_collectives(const ComparedRun& base, const ComparedRun& test, double threshold_percent);

/// Key figures of the GPU and the collectives: Metric, Unit, the baseline, then for each test its
/// value, improvement, interval and status. With charts.
[[nodiscard]] Table summary_dashboard(const ComparedRun& base,
                                      const std::vector<ComparedRun>& tests,
                                      double threshold_percent);

/// The workbook of a comparison: Summary_Dashboard, the raw sheets (hidden), GPU_ByRank_Cmp,
/// GPU_Summary_Cmp, NCCL_ImplicitSyncCmp, NCCL_LongCmp; with several tests the comparison sheets
/// come once for each, its label behind the name. Every table styled.
[[nodiscard]] Report final_report(const ComparedRun& base, const std::vector<ComparedRun>& tests,
                                  double threshold_percent);

} // namespace rankscope
