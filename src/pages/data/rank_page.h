// The page data of one rank's trace, extracted while the trace is in memory: lanes with their level
// of detail, kernel durations, operators against the roofline, launch queue and idle time.
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

/// The limits on the data of one trace in a page.
struct PageDetail {
  std::size_t events = 400'000; ///< per rank
  std::size_t columns = 2048;   ///< per lane
  std::size_t tiles = 512;      ///< per lane, to select events
  std::size_t slots = 360;      ///< of the launch queue, over time
  bool kernels = true;          ///< include kernel durations, operators and launch queue
};

inline constexpr std::uint32_t kNoDetail = 0xffffffffU;

/// An event of the page. Texts are ids in RankPage::texts.
struct PageEvent {
  LaneEvent at;
  StrId name = kEmptyStr;
  StrId op = kEmptyStr;                   ///< the operator that launched it
  StrId about = kEmptyStr;                ///< shapes of that operator, or data of a collective
  std::uint32_t operator_row = kNoDetail; ///< row in RankPage::operators
  std::int64_t delay_ns = -1;             ///< from the launching call to the start; -1 = unknown
  std::int64_t hidden_ns = 0;             ///< communication time that computing kernels overlap
};

/// One stream of a GPU.
struct PageLane {
  std::int64_t device = -1, stream = -1;
  std::size_t in_trace = 0;           ///< number of events
  std::vector<PageEvent> events;      ///< sorted by start; all events, or the important ones
  std::optional<LaneColumns> columns; ///< only if there are many events
  std::vector<StrId> longest;         ///< name of the longest event in each column
};

/// The durations of one kernel, copy or fill, by name.
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
  double min_us = 0, median_us = 0, mean_us = 0, max_us = 0; ///< per call
  double flops = 0, bytes = 0;                               ///< per call; NaN = unknown
  double tflops = 0, tbps = 0;                               ///< mean over the calls; NaN = unknown
  double roofline_us = 0;                                    ///< NaN = no roofline
  bool compute_bound = false;
  bool one_kernel = false; ///< a call is one kernel
};

/// The launch queue in columns of time over the rank's span.
struct LaunchQueue {
  std::int64_t width_ns = 1;
  std::vector<double> depth;       ///< launched kernels that have not started, mean over the column
  std::vector<std::uint32_t> most; ///< maximum of them at one time
  std::vector<IdleByCause> idle_ns; ///< idle time of the column, by cause
};

struct RankPage {
  std::int64_t rank = 0;
  std::int64_t start_ns = 0, end_ns = 0; ///< span of its GPU work, in file time
  std::int64_t base_ns = 0;              ///< time base of the file
  StringPool texts;
  std::vector<PageLane> lanes; ///< sorted by device and stream
  std::vector<ProfilerStep> steps;
  std::vector<KernelSpread> kernels;   ///< most time first
  std::vector<PageOperator> operators; ///< most time first
  LaunchQueue queue;
  std::optional<GpuArch> gpu;
};

/// Returns the page data of a trace. `options` must be the options of the rank's other metrics.
/// Errors: those of load_gpu_arch.
[[nodiscard]] Result<RankPage> rank_page_of(const LoadedTrace& trace, const ReportOptions& options,
                                            const PageDetail& detail);

} // namespace rankscope
