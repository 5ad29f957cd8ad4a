// Facts for a one-page summary of a run: what is missing, what the GPUs did, what took longest, why
// they were idle, which rank differs, what to do next. The values are those of the other reports:
// gpu_timeline, kernel_summary, unified_perf_summary, ops_summary_by_category and the collective
// report.
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

/// The input of the facts, and how many rows to list.
struct TopInput {
  std::string title;
  std::vector<std::string> paths; ///< as the user gave them, for the suggested commands
  bool folder = false;            ///< a folder of ranks, for commands over ranks
  std::size_t top_k = 10;         ///< rows of kernels, operators, collectives; 0 = all
};

struct TopOverview {
  std::string title, device, gpu; ///< gpu: of the rooflines; "" = no rooflines
  std::int64_t ranks = 0;
  std::int64_t steps = 0; ///< profiler steps with GPU work, least of all ranks
  double total_ms = 0;    ///< gpu_timeline's total_time, mean over the ranks
  std::int64_t kernel_launches = 0;
  double kernel_ms = 0;   ///< sum over ranks of the kernels' durations
  double operator_ms = 0; ///< sum over ranks of unified_perf_summary's kernel time
  std::int64_t kernels = 0, operators = 0, collectives = 0; ///< rows before top_k cut them
};

/// A row of gpu_timeline, mean over the ranks.
struct TopTime {
  TimeKind kind = TimeKind::kTotal;
  double ms = 0;
  double percent = 0; ///< of the mean total_time
};

struct TopIdle {
  IdleCause cause = IdleCause::kHost;
  double ms = 0;              ///< mean over the ranks; they add up to idle_time
  double percent_of_idle = 0; ///< 0 without idle time
  double percent = 0;         ///< of the mean total_time
  double gaps = 0;            ///< mean over the ranks, each by the cause of most of it
};

struct TopKernel {
  KernelTotal sum;
  double percent = 0;     ///< of the kernels' durations
  std::string short_name; ///< distinct among the kernels listed (model/kernel_names.h)
};

struct TopOperator {
  OperatorTotal sum;
  double percent = 0; ///< of the kernel time of all rows
  double tflops = 0;  ///< mean over the calls; NaN = no model
  double tbps = 0;
  double percent_of_roofline = 0; ///< minimum time over kernel time; NaN = no roofline
  std::string_view bound;         ///< "compute", "memory" or ""
};

struct TopCategory {
  CategoryTotal sum;
  double percent = 0; ///< of the direct time of all rows
};

/// Collectives of one name, type, size and group.
struct TopCollective {
  std::string name, dtype, group;
  double mib = 0;              ///< NaN = unknown
  std::int64_t group_size = 0; ///< 0 = unknown
  std::int64_t count = 0;      ///< collectives; of one rank alone: its kernels
  double mean_us = 0;          ///< of the rank that waited least; of one rank alone: as it ran
  double total_ms = 0;
  double percent = 0;  ///< of total_ms of all rows
  double skew_us = 0;  ///< mean of the starts' spread; NaN = unknown
  double bus_gbps = 0; ///< mean; NaN = unknown
};

/// Communication by the name of the collective, over all ranks.
struct TopCommunication {
  std::string name;
  std::int64_t kernels = 0;
  double ms = 0, percent = 0;                 ///< of the time of all of them
  double exposed_ms = 0, exposed_percent = 0; ///< of ms
  double wait_ms = 0;                         ///< for late ranks, where that is known
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
  std::vector<std::string> command; ///< words
  std::string why;
};

struct TopFacts {
  TopOverview overview;
  std::vector<Problem> problems; ///< worst first
  std::vector<TopTime> times;
  std::vector<TopIdle> idle; ///< most first; causes without time are left out
  std::vector<TopKernel> kernels;
  std::vector<TopOperator> operators; ///< none when no operator is recorded
  std::vector<TopCategory> categories;
  std::vector<TopCollective> collectives;
  std::vector<TopCommunication> communication;
  std::vector<TopRankRow> ranks; ///< ascending
  std::vector<Finding> findings; ///< by top_findings()
  std::vector<TopNext> next;

  [[nodiscard]] double ms(TimeKind kind) const; ///< 0 when there is no such row
  [[nodiscard]] double percent(TimeKind kind) const;
};

/// All ranks as one configuration, whatever their folder says of parameters. The parts must outlive
/// it.
[[nodiscard]] std::vector<ConfigurationRanks> one_run(const TopParts& parts);

/// Returns everything but the findings. `collectives`: of parts.collectives, nullptr if these are
/// empty. The result owns its data: the parts may change afterwards.
[[nodiscard]] TopFacts top_facts(const TopParts& parts, const CollectiveFacts* collectives,
                                 const Diagnostics& diagnostics, const TopInput& input);

/// The facts as tables, for JSON and for the dictionary of columns.
[[nodiscard]] Report top_report(const TopFacts& facts);
[[nodiscard]] std::vector<SheetInfo> top_sheets();

/// The shapes of a call as people write them. Example: "((4096, 4096), (4096, 14336), ())" is
/// "4096x4096 4096x14336".
[[nodiscard]] std::string short_shapes(const std::string& dims);

/// Returns a command for a shell that reads $'...' (bash, zsh, busybox): blanks and quotes are
/// quoted, control characters and bytes that are not text become \xNN.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& command);
/// One word of it as pieces that may be cut apart (a backslash and a line end between them).
[[nodiscard]] std::vector<std::string> shell_pieces(std::string_view word);

} // namespace rankscope
