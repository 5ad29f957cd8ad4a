// Facts for a one-page summary of a run: missing data, GPU time, the longest work, causes of idle
// time, ranks that differ, next steps. The values equal those of the other reports: gpu_timeline,
// kernel_summary, unified_perf_summary, ops_summary_by_category and the collective report.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/sweep/sweep_facts.h"
#include "analyses/top/top_rank.h"
#include "base/diagnostics.h"
#include "core/finding.h"
#include "core/report.h"
#include "core/schema.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The input of the facts, and the number of rows to list.
struct TopInput {
  std::string title;
  std::vector<std::string> paths; ///< paths as the user gave them, for the suggested commands
  bool folder = false;            ///< the input is a folder of ranks, for commands over ranks
  std::size_t top_k = 10;         ///< rows of kernels, operators, collectives; 0 = all
};

struct TopOverview {
  std::string title, device, gpu; ///< gpu: GPU of the rooflines, "" without rooflines
  std::int64_t ranks = 0;
  std::int64_t steps = 0;      ///< profiler steps with GPU work, minimum over the ranks
  std::int64_t most_steps = 0; ///< the same, maximum over the ranks
  double total_ms = 0;         ///< total_time of gpu_timeline, mean over the ranks
  std::int64_t kernel_launches = 0;
  double kernel_ms = 0;      ///< sum over ranks of the kernels' durations
  double operator_ms = 0;    ///< kernel time of unified_perf_summary, sum over the ranks
  double work_ms = 0;        ///< GPU time without communication, sum over the ranks
  double no_operator_ms = 0; ///< part of work_ms that no operator launched
  /// Number of rows before the limit of top_k.
  std::int64_t kernels = 0, operators = 0, collectives = 0;
};

/// A row of gpu_timeline, as a mean over the ranks.
struct TopTime {
  TimeKind kind = TimeKind::kTotal;
  double ms = 0;
  double percent = 0; ///< percentage of the mean total_time
};

struct TopIdle {
  IdleCause cause = IdleCause::kHost;
  double ms = 0;              ///< mean over the ranks; the sum over all causes is idle_time
  double percent_of_idle = 0; ///< 0 without idle time
  double percent = 0;         ///< percentage of the mean total_time
  double gaps = 0;            ///< number of gaps with this main cause, mean over the ranks
};

struct TopKernel {
  KernelTotal sum;
  double percent = 0;     ///< percentage of the durations of all kernels
  std::string short_name; ///< distinct among the listed kernels (model/kernel_names.h)
};

struct TopOperator {
  OperatorTotal sum;
  double percent = 0;             ///< percentage of TopOverview::work_ms
  double tflops = 0;              ///< work of all calls by their kernel time; NaN = no model
  double tbps = 0;                ///< as above
  double percent_of_roofline = 0; ///< minimum time / kernel time, percent; NaN = no roofline
  std::string_view bound;         ///< "compute", "memory" or ""
};

struct TopCategory {
  CategoryTotal sum;
  double percent = 0; ///< percentage of the direct time of all rows and of unlinked work
};

/// The collectives with the same name, type, size and group.
struct TopCollective {
  std::string name, dtype, group;
  double mib = 0;              ///< NaN = unknown
  std::int64_t group_size = 0; ///< 0 = unknown
  std::int64_t count = 0;      ///< number of collectives; with only one rank: number of kernels
  /// Mean duration on the rank that waited least; with only one rank: mean kernel duration.
  double mean_us = 0;
  double total_ms = 0;
  double percent = 0;  ///< percentage of total_ms of all rows
  double skew_us = 0;  ///< mean difference between first and last start; NaN = unknown
  double bus_gbps = 0; ///< mean; NaN = unknown
};

/// Communication time per collective name, over all ranks.
struct TopCommunication {
  std::string name;
  std::int64_t kernels = 0;
  double ms = 0, percent = 0;                 ///< percentage of the time of all collectives
  double exposed_ms = 0, exposed_percent = 0; ///< percentage of `ms`
  double wait_ms = 0; ///< time that was spent waiting for late ranks, if known
};

struct TopRankRow {
  std::int64_t rank = 0;
  std::string path;
  double total_ms = 0, compute_ms = 0, exposed_ms = 0, memcpy_ms = 0, idle_ms = 0;
  double compute_percent = 0, exposed_percent = 0, memcpy_percent = 0, idle_percent = 0;
  double late_us = std::numeric_limits<double>::quiet_NaN(); ///< see LateRank; NaN = unknown
  bool slow = false; ///< computes longer than the others, beyond noise
  bool late = false; ///< starts its collectives later than the others, beyond noise
};

struct TopNext {
  std::vector<std::string> command; ///< words of the command
  std::string why;
};

struct TopFacts {
  TopOverview overview;
  std::vector<Problem> problems; ///< worst first
  std::vector<TopTime> times;
  std::vector<TopIdle> idle; ///< most time first; causes without time are left out
  std::vector<TopKernel> kernels;
  std::vector<TopOperator> operators; ///< empty if no operator is recorded
  std::vector<TopCategory> categories;
  std::vector<TopCollective> collectives;
  std::vector<TopCommunication> communication;
  std::vector<TopRankRow> ranks; ///< ascending
  std::vector<Finding> findings; ///< findings of top_findings()
  std::vector<TopNext> next;

  [[nodiscard]] double ms(TimeKind kind) const; ///< 0 if there is no such row
  [[nodiscard]] double percent(TimeKind kind) const;
};

/// Returns all ranks as one configuration, even if the folder name contains parameters. The parts
/// must outlive the result.
[[nodiscard]] std::vector<ConfigurationRanks> one_run(const TopParts& parts);

/// Returns all facts except the findings. `collectives` are the facts of parts.collectives, or
/// nullptr if that is empty. The result owns its data: the parts may change afterwards.
[[nodiscard]] TopFacts top_facts(const TopParts& parts, const CollectiveFacts* collectives,
                                 const Diagnostics& diagnostics, const TopInput& input);

/// Returns the facts as tables, for JSON and for the dictionary of columns.
[[nodiscard]] Report top_report(const TopFacts& facts);
[[nodiscard]] std::vector<SheetInfo> top_sheets();

/// Returns a command for a shell that reads $'...' (bash, zsh, busybox). Blanks and quotes are
/// quoted; control characters and bytes that are not text become \xNN.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& command);
/// Returns one word of a command as pieces between which the line may be broken (with a backslash
/// and a line end).
[[nodiscard]] std::vector<std::string> shell_pieces(std::string_view word);

} // namespace rankscope
