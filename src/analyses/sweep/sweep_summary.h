// Sweep summary: the timelines of all ranks and configurations side by side, the slowest ranks, the
// busiest GEMM kernels. Made from small per-rank records, so that traces can be released.
#pragma once

#include "analyses/analysis.h"
#include "core/run.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// What the summary keeps of one rank.
struct RankRecord {
  RunKey key;
  std::map<std::string, double> timeline_ms; ///< rows of gpu_timeline
  struct Kernel {
    double sum_us = 0, min_us = 0, max_us = 0;
    std::int64_t count = 0;
  };
  std::map<std::string, Kernel> gemm_kernels; ///< by kernel name
  std::string error; ///< why the rank could not be analysed; empty = it was
};

/// From a rank's report (needs gpu_timeline) and its trace.
[[nodiscard]] RankRecord make_record(const LoadedTrace& trace, const Report& report);

/// Tables: configurations (best first), ranks (in the given order), gemm_kernels (most time first),
/// failed_ranks (only if there are any).
[[nodiscard]] std::vector<Table> summary_tables(const std::vector<RankRecord>& records,
                                                std::size_t top_k);

/// gpu_timeline_all_configs (sweep-and-compare.md 10.1): All_Data, Pivot_Time_ms, Pivot_Percent,
/// Summary_By_Config; time and percent of each rank aggregated by "mean" or "geomean" (zeros left
/// out of the latter), with the spread over ranks and the slowest one.
[[nodiscard]] std::vector<Table> timeline_all_configs(const std::vector<RankRecord>& records,
                                                      const std::string& aggregation);

/// A configuration's nccl_summary_implicit_sync.
struct ConfigCollectives {
  Configuration configuration;
  std::string source_file;
  Table summary;
};

/// nccl_master_all_configs (sweep-and-compare.md 10.2), then the process group and ours. The
/// operation id goes by message size, and counts collective and data type apart.
[[nodiscard]] Table nccl_master(const std::vector<ConfigCollectives>& configs);

/// The summary in words, one finding a line.
[[nodiscard]] std::vector<std::string> summary_findings(const std::vector<RankRecord>& records);

/// What to try next, each with the numbers behind it. `gemm_overlap`: the overlap table of GEMMs.
[[nodiscard]] std::vector<std::string> next_steps(const std::vector<RankRecord>& records,
                                                  const Table& gemm_overlap);

} // namespace rankscope
