// The multi-rank collective report (perf-report.md 2): matching across ranks, latency and
// bandwidth, skew, stragglers, exposed communication, findings.
#pragma once

#include "analyses/collectives/clock_alignment.h"
#include "analyses/collectives/collective_data.h"
#include "base/result.h"
#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

enum class AlignMode { kNone, kBase, kCollectives };

struct CollectiveOptions {
  AlignMode align = AlignMode::kCollectives;
  std::int64_t gpus_per_node = 0; ///< 0: the number of devices in the first trace
  std::vector<std::string> agg_metrics = {"mean", "median", "min", "max"};
  bool compat_tracelens = false;
  bool all_to_all_v_heatmap = false;
};

/// One collective on all the ranks that took part in it.
struct MatchedCollective {
  std::string pg;         ///< process group name, "Unknown_Group" when missing
  std::int64_t index = 0; ///< its place in the group, from 0 over all ranks
  CollectiveKind kind = CollectiveKind::kOther;
  /// (position in the list of ranks, row there), ascending by position.
  std::vector<std::pair<std::size_t, std::size_t>> members;
};

struct MatchResult {
  std::vector<MatchedCollective> collectives; ///< by group, then index
  Table problems; ///< process group, rank, index, problem: shifts and disagreements
};

/// Matches by process group and Seq; without Seq by order, after finding by sizes, types and times
/// how far each rank's window is shifted.
[[nodiscard]] MatchResult match_collectives(const std::vector<RankCollectives>& ranks);

/// Tables in sheet order. `ranks` ascending by rank. No rank or no collective: an Error.
Result<Report> build_collective_report(const std::vector<RankCollectives>& ranks,
                                       const CollectiveOptions& options);

/// nccl_summary_long of these ranks (perf-report.md 2.2); coll_analysis is this for one rank.
[[nodiscard]] Table nccl_summary_long(const std::vector<const RankCollectives*>& ranks,
                                      const std::string& table_name);

} // namespace rankscope
