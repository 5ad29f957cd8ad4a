// Launchers: the operators that launched kernels (docs/reference/report-rules.md 9). Built once per
// trace and shared by the ops_* sheets, kernel_summary and the short-kernel study.
#pragma once

#include "analyses/analysis.h"
#include "base/interval_set.h"

namespace rankscope {

struct Launcher {
  EventId event = kNoEvent;
  std::uint32_t kernel_begin = 0; ///< index into LauncherIndex::kernels
  std::uint32_t kernel_end = 0;
  double direct_ns = 0;      ///< busy_ns() of the kernels that the launcher launched itself
  double subtree_ns = 0;     ///< busy_ns() of all GPU events below the launcher, with communication
  std::string_view category; ///< static text
  bool recompute = false;
};

/// The GPU events of a trace, with a flag for each name of a collective kernel.
struct TraceGpuWork {
  std::vector<EventId> events;     ///< in the order of the file
  std::vector<bool> communication; ///< by StrId: true for the name of a collective kernel
};
struct TraceGpuWorkKey {
  using Value = TraceGpuWork;
  bool compat = false; ///< find collective kernels by the rules of the reference
  auto operator<=>(const TraceGpuWorkKey&) const = default;
};
[[nodiscard]] TraceGpuWork compute(const LoadedTrace& trace, const TraceGpuWorkKey& key);

struct LauncherIndex {
  explicit LauncherIndex(const TraceGpuWork& work)
      : gpu(work.events), communication(work.communication) {}

  const std::vector<EventId>& gpu; ///< TraceGpuWork::events, which lives with the trace
  /// TraceGpuWork::communication, which lives with the trace.
  const std::vector<bool>& communication;
  std::vector<Launcher> launchers; ///< ordered by ts
  /// Kernels of all launchers; each launcher's kernels are ordered by ts.
  std::vector<EventId> kernels;
  std::vector<bool> recompute;    ///< by event; empty unless recompute is detected
  std::vector<EventId> parent_op; ///< by position in gpu: nearest cpu_op, else launching call
  std::vector<std::string_view> parent_category; ///< by position in gpu; empty when unlinked
  std::int64_t total_ns = 0; ///< total_time of gpu_timeline for linked events (or for all events)

  [[nodiscard]] std::span<const EventId> kernels_of(const Launcher& l) const {
    return {kernels.data() + l.kernel_begin, kernels.data() + l.kernel_end};
  }
};

struct LaunchersKey {
  using Value = LauncherIndex;
  bool unlinked;  ///< total_ns includes GPU events without a launch
  bool recompute; ///< mark recomputed work
  bool compat;    ///< follow the reference
  LaunchersKey(const ReportOptions& o = {})
      : unlinked(o.include_unlinked_kernels), recompute(o.detect_recompute),
        compat(o.compat_tracelens) {}
  auto operator<=>(const LaunchersKey&) const = default;
};
[[nodiscard]] LauncherIndex compute(const LoadedTrace& trace, const LaunchersKey& key);

/// Returns the union of GPU events, without the gaps between them.
[[nodiscard]] IntervalSet busy_time(const Trace& trace, std::span<const EventId> events);
/// Returns the length of the union of GPU events, in integer ns. With `as_reference`, the length is
/// computed from reference_us(), which has fractions.
[[nodiscard]] double busy_ns(const Trace& trace, std::span<const EventId> events,
                             bool as_reference);

/// Sorts the events by start and removes duplicates.
void sort_unique_by_start(const Trace& trace, std::vector<EventId>& events);

/// Returns, for each event, whether it is below a checkpoint recompute frame
/// (docs/reference/report-rules.md 15). Requires Python events in the trace and in the tree.
[[nodiscard]] std::vector<bool> recompute_events(const LoadedTrace& trace);

} // namespace rankscope
