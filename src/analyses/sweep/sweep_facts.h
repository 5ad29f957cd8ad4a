// Facts of a sweep: the timelines of all ranks and configurations side by side, the slowest ranks,
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
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The data of one rank that a sweep stores.
struct RankRecord {
  RunKey key;
  std::array<std::optional<std::int64_t>, kTimeKinds> time_ns; ///< times of gpu_timeline
  IdleByCause idle_ns{};                                       ///< idle time by cause
  IdleByCause idle_gaps{};                                     ///< IdleTime::gaps
  std::array<Interval, kIdleCauses> longest_idle{};            ///< intervals of IdleTime::longest
  struct Kernel {
    std::int64_t sum_ns = 0, min_ns = 0, max_ns = 0, count = 0;
    void add(const Kernel& other);
  };
  std::map<std::string, Kernel> gemm_kernels; ///< by kernel name
  std::vector<StepTimes> steps; ///< used to separate differences between runs from noise
  std::vector<CallGroup> calls; ///< used to find causes of differences
  std::string error; ///< reason why the rank could not be analysed; empty if it was analysed
  /// GPU work of graph launches, as sums of durations; all 0 without graph launches.
  struct GraphTime {
    std::int64_t gpu_ns = 0;          ///< all GPU work of the trace
    std::int64_t graph_ns = 0;        ///< GPU work of graph launches
    std::int64_t unattributed_ns = 0; ///< GPU work of graph launches without an operator
  };
  GraphTime graphs;

  /// Returns a time of the timeline in milliseconds; NaN if the timeline has no such row.
  [[nodiscard]] double ms(TimeKind kind) const;
};

[[nodiscard]] RankRecord make_record(const LoadedTrace& trace, const ReportOptions& options);

/// The ranks of a configuration that were analysed, in the given order.
struct ConfigurationRanks {
  Configuration configuration;
  std::vector<const RankRecord*> ranks;

  /// Returns the mean over the ranks in milliseconds.
  [[nodiscard]] double mean_ms(TimeKind kind) const;
  /// Returns the mean number of profiler steps of a rank; 0 if some rank has no steps.
  [[nodiscard]] double mean_steps() const;
};
/// Returns the configurations in order of first appearance, without failed ranks. The records must
/// outlive the result.
[[nodiscard]] std::vector<ConfigurationRanks>
by_configuration(const std::vector<RankRecord>& records);

/// Returns the smallest and the largest mean_steps() of the configurations. Empty if they are equal
/// or if one has no steps. If set, the times of complete traces cannot be compared.
[[nodiscard]] std::optional<std::pair<double, double>>
different_steps(std::span<const ConfigurationRanks> groups);

/// The kinds of time that the summary shows, in its order.
inline constexpr std::array kSummaryKinds = {TimeKind::kComputation,   TimeKind::kExposedComm,
                                             TimeKind::kExposedMemcpy, TimeKind::kBusy,
                                             TimeKind::kIdle,          TimeKind::kTotal,
                                             TimeKind::kTotalComm,     TimeKind::kTotalMemcpy};

struct ConfigurationRow {
  std::string label;
  std::size_t ranks = 0;
  std::array<double, kTimeKinds> mean_ms{}; ///< mean over the ranks; NaN: unknown
  double exposed_percent = 0;               ///< exposed communication as a percentage of total time

  [[nodiscard]] double mean(TimeKind kind) const { return mean_ms[static_cast<std::size_t>(kind)]; }
};
/// Returns rows ordered by mean total time, shortest first.
[[nodiscard]] std::vector<ConfigurationRow>
configuration_rows(const std::vector<RankRecord>& records);
[[nodiscard]] Schema<ConfigurationRow> configuration_schema();
/// Returns the columns that the console and summary.md show.
[[nodiscard]] Schema<ConfigurationRow> short_configuration_schema();

/// The time of a GEMM kernel over the ranks of a configuration.
struct SweepKernelRow {
  std::string label, kernel;
  std::int64_t ranks = 0;
  RankRecord::Kernel time;
};
/// Returns rows by configuration, the top k of each (0 = all) with the most time first.
[[nodiscard]] std::vector<SweepKernelRow> sweep_kernel_rows(const std::vector<RankRecord>& records,
                                                            std::size_t top_k);

/// One kind of time of one configuration over its ranks.
struct TimelineSpread {
  Configuration configuration;
  std::size_t ranks = 0;
  TimeKind kind = TimeKind::kTotal;
  double ms = 0, percent = 0; ///< aggregated over ranks; percent of total_time
  double min_ms = 0, max_ms = 0, std_ms = 0;
  std::int64_t slowest_rank = 0; ///< rank with the most time of this kind
};
enum class Aggregation { kArithmetic, kGeometric }; ///< the geometric mean leaves zeros out
[[nodiscard]] const char* aggregation_name(Aggregation aggregation);
/// Returns rows ordered by threads and channels, then by the name of the kind; only kinds of
/// kSummaryKinds.
[[nodiscard]] std::vector<TimelineSpread> timeline_spreads(const std::vector<RankRecord>& records,
                                                           Aggregation aggregation);

/// Returns the tables configurations (best first), ranks (in the given order), gemm_kernels (most
/// time first), and failed_ranks if ranks failed.
[[nodiscard]] std::vector<Table> summary_tables(const std::vector<RankRecord>& records,
                                                std::size_t top_k);

/// Returns the tables of gpu_timeline_all_configs (docs/reference/sweep-files.md 5): All_Data,
/// Pivot_Time_ms, Pivot_Percent, Summary_By_Config.
[[nodiscard]] std::vector<Table> timeline_all_configs(const std::vector<RankRecord>& records,
                                                      Aggregation aggregation);

} // namespace rankscope
