// The page data of one rank's trace, extracted while the trace is in memory: lanes with their level
// of detail, the spread of kernels, operators against the roofline, launch queue and idle time.
#pragma once

#include "analyses/analysis.h"
#include "analyses/operators/unified_perf.h"
#include "analyses/timeline/idle_causes.h"
#include "core/steps.h"
#include "pages/data/lane_columns.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The limits on the data of a trace in a page.
struct PageDetail {
  std::size_t events = 400'000; ///< of a rank
  std::size_t columns = 2048;   ///< of a lane
  std::size_t tiles = 512;      ///< of a lane, for the choice of events
  std::size_t slots = 360;      ///< of the launch queue
  bool kernels = true;          ///< spreads of kernels, operators, launch queue
};

inline constexpr std::uint32_t kNoDetail = 0xffffffffU;

/// An event of the page. Texts are ids of RankPage::texts.
struct PageEvent {
  LaneEvent at;
  StrId name = kEmptyStr;
  StrId op = kEmptyStr;                   ///< the operator that launched it
  StrId about = kEmptyStr;                ///< shapes of that operator, or what a collective moves
  std::uint32_t operator_row = kNoDetail; ///< of RankPage::operators
  std::int64_t delay_ns = -1;             ///< from the launching call to the start; -1 = unknown
  std::int64_t hidden_ns = 0;             ///< part of communication that computing kernels overlap
};

/// A stream.
struct PageLane {
  std::int64_t device = -1, stream = -1;
  std::size_t in_trace = 0;           ///< events
  std::vector<PageEvent> events;      ///< by start; all, or the important ones
  std::optional<LaneColumns> columns; ///< where the events are many
  std::vector<StrId> longest;         ///< name of the longest event in each column
};

/// Durations of a kernel, copy or fill, by its name.
struct KernelSpread {
  StrId name = kEmptyStr;
  LaneKind kind = LaneKind::kCompute;
  std::int64_t count = 0, sum_ns = 0;
  /// Percentiles by nearest rank.
  std::int64_t min_ns = 0, p25_ns = 0, median_ns = 0, p75_ns = 0, p95_ns = 0, max_ns = 0;
};

/// A row of unified_perf_summary.
struct PageOperator {
  std::string name, category, shapes, types, spec;
  std::int64_t count = 0;
  double kernel_ns = 0, percent = 0;
  double min_us = 0, median_us = 0, mean_us = 0, max_us = 0; ///< of a call
  double flops = 0, bytes = 0;                               ///< of a call; NaN = unknown
  double tflops = 0, tbps = 0;                               ///< mean over the calls; NaN = unknown
  double roofline_us = 0;                                    ///< NaN = no roofline
  bool compute_bound = false;
  bool one_kernel = false; ///< a call is one kernel
};

/// Columns of time over the rank's span.
struct LaunchQueue {
  std::int64_t width_ns = 1;
  std::vector<double> depth;       ///< kernels launched and not started, mean over the column
  std::vector<std::uint32_t> most; ///< most of them at once
  std::vector<std::array<std::int64_t, kIdleCauses>> idle_ns; ///< of the column, by cause
};

struct RankPage {
  std::int64_t rank = 0;
  std::int64_t start_ns = 0, end_ns = 0; ///< of its GPU work, as in the file
  std::int64_t base_ns = 0;              ///< time base of the file
  StringPool texts;
  std::vector<PageLane> lanes; ///< by device and stream
  std::vector<ProfilerStep> steps;
  std::vector<KernelSpread> kernels;   ///< most time first
  std::vector<PageOperator> operators; ///< most time first
  LaunchQueue queue;
  std::optional<GpuArch> board;
};

/// `options`: those of the rank's other metrics. Errors: those of load_gpu_arch.
[[nodiscard]] Result<RankPage> rank_page_of(const LoadedTrace& trace, const ReportOptions& options,
                                            const PageDetail& detail);

} // namespace rankscope
