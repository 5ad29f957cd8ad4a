// Calls that launch GPU work and the queues that they fill, by the definitions of
// HolisticTraceAnalysis (HTA): the facts behind launch_statistics and queue_length.
#pragma once

#include "analyses/analysis.h"
#include "analyses/group_stats.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The launches by calls of one name. Views live as long as the trace.
struct LaunchStatisticsRow {
  std::string_view name;
  std::size_t launches = 0; ///< GPU events; a graph launch has many
  Stats call_us;            ///< duration of the call
  Stats gpu_us;             ///< of the launched work
  Stats delay_us; ///< from the end of the call to the start on the GPU, 0 when that comes first
  std::size_t short_kernels = 0; ///< shorter than their call, which takes up to 50 us
  std::size_t long_calls = 0;    ///< above 50 us
  std::size_t long_delays = 0;   ///< above 100 us
};

/// Most launches first, then by name. Worked example: a call at 1,000 us of 8 us, its kernel at
/// 1,030 us of 4 us: delay 22 us, a short kernel.
[[nodiscard]] std::vector<LaunchStatisticsRow> launch_statistics_of(const LoadedTrace& trace);
[[nodiscard]] Schema<LaunchStatisticsRow> launch_statistics_schema();

/// How many GPU events of a stream are launched and have not started, over the points where that
/// number changes: + 1 when a call begins, - 1 when its work starts.
struct QueueLengthRow {
  std::int64_t device = 0, stream = 0;
  std::size_t points = 0;
  double mean = 0, std_sample = 0; ///< of the points, whatever time is between them
  double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;
  std::int64_t full_ns = 0;  ///< time with kFullQueue or more waiting
  std::int64_t trace_ns = 0; ///< from the first event to the end of the last one
};
inline constexpr std::int64_t kFullQueue = 1024; ///< launches that a stream takes before calls wait

/// By device and stream; work without a launch in the trace does not count, nor graph launches. At
/// one time launches come before starts. Worked example: launches at 0, 10 and 20, starts at 5, 30
/// and 60: lengths 1, 0, 1, 2, 1, 0.
[[nodiscard]] std::vector<QueueLengthRow> queue_lengths_of(const LoadedTrace& trace);
[[nodiscard]] Schema<QueueLengthRow> queue_length_schema();

} // namespace rankscope
