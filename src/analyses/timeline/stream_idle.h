// Idle time of each stream by cause, by the definitions of HolisticTraceAnalysis (HTA): the facts
// behind stream_idle. For the idle time of the GPU over all streams, see idle_causes.h.
#pragma once

#include "analyses/analysis.h"
#include "analyses/group_stats.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

enum class StreamIdleCause : std::uint8_t {
  kHostWait,   ///< the next work was launched after the previous work had ended
  kKernelWait, ///< not kHostWait, and the gap is shorter than kKernelWaitNs
  kOther,      ///< not kHostWait, and a longer gap; the launch may be missing in the trace
};
inline constexpr std::size_t kStreamIdleCauses = 3;
inline constexpr std::int64_t kKernelWaitNs = 30'000; ///< HTA's consecutive_kernel_delay
/// Returns HTA's names: "host_wait", "kernel_wait", "other".
[[nodiscard]] std::string_view stream_idle_cause_name(StreamIdleCause cause);

struct StreamIdleRow {
  std::int64_t device = 0, stream = 0;
  StreamIdleCause cause = StreamIdleCause::kHostWait;
  Stats gap_us;       ///< its sum is the idle time
  double percent = 0; ///< percentage of the stream's idle time
};

/// Returns three rows per stream, by device and stream, for streams with GPU events. A gap is
/// the time from the end of all earlier GPU events of the stream to the start of the next. Example:
/// [100, 150) launched at 90, [160, 200) at 120, [300, 350) at 210, [500, 520) at 340 us:
/// kernel_wait 10, host_wait 100, other 150.
[[nodiscard]] std::vector<StreamIdleRow> stream_idle_of(const LoadedTrace& trace);
[[nodiscard]] Schema<StreamIdleRow> stream_idle_schema();

} // namespace rankscope
