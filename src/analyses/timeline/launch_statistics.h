// Calls that launch GPU work and the queues that they fill, by the definitions of
// HolisticTraceAnalysis (HTA): the facts behind launch_statistics and queue_length.
#pragma once

#include "analyses/analysis.h"
#include "analyses/group_stats.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The launches of all calls with one name. Views live as long as the trace.
struct LaunchStatisticsRow {
  std::string_view name;
  std::size_t launches = 0; ///< number of GPU events; a graph launch counts many
  Stats call_us;            ///< duration of the call
  Stats gpu_us;             ///< duration of the launched work
  Stats delay_us;           ///< time from the end of the call to the start on the GPU; at least 0
  std::size_t short_kernels = 0; ///< kernels shorter than their call, for calls of up to 50 us
  std::size_t long_calls = 0;    ///< calls above 50 us
  std::size_t long_delays = 0;   ///< delays above 100 us
};

/// Returns rows with the most launches first, then by name. Example: a call starts at 1,000 us and
/// takes 8 us, its kernel starts at 1,030 us and takes 4 us: delay 22 us, a short kernel.
[[nodiscard]] std::vector<LaunchStatisticsRow> launch_statistics_of(const LoadedTrace& trace);
[[nodiscard]] Schema<LaunchStatisticsRow> launch_statistics_schema();

/// The number of GPU events of a stream that are launched and have not started. The number changes
/// by + 1 when a call begins and by - 1 when its work starts; the statistics are over these points.
struct QueueLengthRow {
  std::int64_t device = 0, stream = 0;
  std::size_t points = 0;
  /// Statistics over the points, without weights for the time between them.
  double mean = 0, std_sample = 0;
  double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;
  std::int64_t full_ns = 0;  ///< time with at least kFullQueue waiting events
  std::int64_t trace_ns = 0; ///< time from the first event to the end of the last event
};
/// Number of launches that a stream accepts before launching calls wait.
inline constexpr std::int64_t kFullQueue = 1024;

/// Returns rows by device and stream. Work without a launch in the trace and graph launches do not
/// count. At equal times, launches come before starts. Example: launches at 0, 10 and 20, starts at
/// 5, 30 and 60: lengths 1, 0, 1, 2, 1, 0.
[[nodiscard]] std::vector<QueueLengthRow> queue_lengths_of(const LoadedTrace& trace);
[[nodiscard]] Schema<QueueLengthRow> queue_length_schema();

} // namespace rankscope
