// Sweeps as facts: the timelines of all ranks and configurations side by side, the slowest ranks,
// the busiest GEMM kernels. Made from small per-rank records, so that traces can be released.
#pragma once

#include "analyses/analysis.h"
#include "analyses/sweep/call_groups.h"
#include "analyses/timeline/gpu_timeline.h"
#include "analyses/timeline/idle_causes.h"
#include "core/run.h"
#include "core/schema.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The data of one rank that a sweep stores.
struct RankRecord {
  RunKey key;
  std::array<std::optional<std::int64_t>, kTimeKinds> time_ns; ///< of gpu_timeline
  std::array<std::int64_t, kIdleCauses> idle_ns{};             ///< idle time by cause
  std::array<Interval, kIdleCauses> longest_idle{};            ///< as IdleTime::longest
  struct Kernel {
    std::int64_t sum_ns = 0, min_ns = 0, max_ns = 0, count = 0;
    void add(const Kernel& other);
  };
  std::map<std::string, Kernel> gemm_kernels; ///< by kernel name
  std::vector<StepTimes> steps;               ///< to separate differences between runs from noise
  std::vector<CallGroup> calls;               ///< to find causes
  std::string error; ///< why the rank could not be analysed; empty = it was
  /// Work that graph launches put on the GPU, sums of durations; all 0 without them.
  struct GraphTime {
    std::int64_t gpu_ns = 0;          ///< of all GPU work of the trace
    std::int64_t graph_ns = 0;        ///< of graphs
    std::int64_t unattributed_ns = 0; ///< of those, without an operator
  };
  GraphTime graphs;

  /// NaN when the timeline has no such row.
  [[nodiscard]] double ms(TimeKind kind) const;
};

[[nodiscard]] RankRecord make_record(const LoadedTrace& trace, const ReportOptions& options);

/// The ranks of a configuration that were analysed, in the given order.
struct ConfigurationRanks {
  Configuration configuration;
  std::vector<const RankRecord*> ranks;

  /// Mean over the ranks, milliseconds.
  [[nodiscard]] double mean_ms(TimeKind kind) const;
  /// Profiler steps of the rank with the fewest.
  [[nodiscard]] std::size_t steps() const;
};
/// In order of first appearance; failed ranks left out. The records must outlive it.
[[nodiscard]] std::vector<ConfigurationRanks>
by_configuration(const std::vector<RankRecord>& records);

/// The kinds of time that the summary shows, in its order.
inline constexpr std::array kSummaryKinds = {TimeKind::kComputation,   TimeKind::kExposedComm,
                                             TimeKind::kExposedMemcpy, TimeKind::kBusy,
                                             TimeKind::kIdle,          TimeKind::kTotal,
                                             TimeKind::kTotalComm,     TimeKind::kTotalMemcpy};

struct ConfigurationRow {
  std::string label;
  std::size_t ranks = 0;
  std::array<double, kTimeKinds> mean_ms{}; ///< over ranks; NaN = not known
  double exposed_percent = 0;               ///< exposed communication of total

  [[nodiscard]] double mean(TimeKind kind) const { return mean_ms[static_cast<std::size_t>(kind)]; }
};
/// Shortest mean total time first.
[[nodiscard]] std::vector<ConfigurationRow>
configuration_rows(const std::vector<RankRecord>& records);
[[nodiscard]] Schema<ConfigurationRow> configuration_schema();
/// The columns that the console and summary.md show.
[[nodiscard]] Schema<ConfigurationRow> short_configuration_schema();

/// A GEMM kernel over the ranks of a configuration.
struct SweepKernelRow {
  std::string label, kernel;
  std::int64_t ranks = 0;
  RankRecord::Kernel time;
};
/// By configuration; most time first, the top k of each (0 = all).
[[nodiscard]] std::vector<SweepKernelRow> sweep_kernel_rows(const std::vector<RankRecord>& records,
                                                            std::size_t top_k);

/// One kind of time of one configuration over its ranks.
struct TimelineSpread {
  Configuration configuration;
  std::size_t ranks = 0;
  TimeKind kind = TimeKind::kTotal;
  double ms = 0, percent = 0; ///< aggregated over ranks; percent of total_time
  double min_ms = 0, max_ms = 0, std_ms = 0;
  std::int64_t slowest_rank = 0; ///< with the most time of this kind
};
enum class Aggregation { kArithmetic, kGeometric }; ///< the latter leaves zeros out
[[nodiscard]] const char* aggregation_name(Aggregation aggregation);
/// By threads and channels, then the kinds of kSummaryKinds by name.
[[nodiscard]] std::vector<TimelineSpread> timeline_spreads(const std::vector<RankRecord>& records,
                                                           Aggregation aggregation);

/// Tables: configurations (best first), ranks (in the given order), gemm_kernels (most time first),
/// failed_ranks (only if there are any).
[[nodiscard]] std::vector<Table> summary_tables(const std::vector<RankRecord>& records,
                                                std::size_t top_k);

/// gpu_timeline_all_configs (docs/reference/sweep-files.md 5): All_Data, Pivot_Time_ms,
/// Pivot_Percent, Summary_By_Config.
[[nodiscard]] std::vector<Table> timeline_all_configs(const std::vector<RankRecord>& records,
                                                      Aggregation aggregation);

} // namespace rankscope
