// GPU time by kind: the facts behind gpu_timeline.
#pragma once

#include "analyses/operators/launchers.h"
#include "base/interval_set.h"

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope {

enum class TimeKind : std::uint8_t {
  kComputation,
  kExposedComm,
  kExposedMemcpy,
  kBusy,
  kMicroIdle,
  kMacroIdle,
  kIdle,
  kTotal,
  kTotalComm,
  kTotalMemcpy,
};
inline constexpr std::size_t kTimeKinds = static_cast<std::size_t>(TimeKind::kTotalMemcpy) + 1;
/// Returns the name of a row: "computation_time", ...
[[nodiscard]] std::string_view time_kind_name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> time_kind_named(std::string_view name);

struct TimelineRow {
  TimeKind kind = TimeKind::kComputation;
  double time_ns = 0; ///< an integer except in compat mode
  double percent = 0; ///< percentage of total_time; 0 if total_time is 0
  /// True for recomputed work, false for ordinary work; empty without recompute detection.
  std::optional<bool> recompute;
};

/// Key of the timeline in the order of the sheet, without the idle rows that the key does not
/// request.
struct TimelineKey {
  using Value = std::vector<TimelineRow>;
  LaunchersKey launchers;
  double micro_idle_us = 0;      ///< 0 = one idle_time row
  bool memset_as_memory = false; ///< memsets count as copies, not as computation
  TimelineKey() = default;
  TimelineKey(const ReportOptions& o)
      : launchers(o), micro_idle_us(o.micro_idle_us), memset_as_memory(o.memset_as_memory) {}
  auto operator<=>(const TimelineKey&) const = default;
};
[[nodiscard]] std::vector<TimelineRow> compute(const LoadedTrace& trace, const TimelineKey& key);

/// Returns the timeline of these GPU events only, for a report with different rules.
/// `communication` is by StrId. Copies are events of category gpu_memcpy and, with
/// `copies_by_name`, kernels of older runtimes that copy.
[[nodiscard]] std::vector<TimelineRow> timeline_of_events(const LoadedTrace& trace,
                                                          std::span<const EventId> events,
                                                          const std::vector<bool>& communication,
                                                          const TimelineKey& key,
                                                          bool copies_by_name);

/// Returns whether the name is that of a copy kernel of an older AMD runtime.
[[nodiscard]] bool is_legacy_copy(std::string_view name);

/// The kind of work that a GPU event counts as in the timeline.
enum class TimelineBucket : std::uint8_t { kCompute, kCommunication, kMemcpy };
/// Returns the bucket of each GPU event.
[[nodiscard]] std::vector<TimelineBucket> timeline_buckets_of(const LoadedTrace& trace,
                                                              std::span<const EventId> events,
                                                              const TimelineKey& key);

/// A profiler step with GPU work.
struct StepWindow {
  std::int64_t number = 0;
  Interval gpu; ///< first start and last end of its GPU work
};
/// The idle time in ns before each step.
struct IdleBeforeSteps {
  std::vector<std::optional<std::int64_t>> ns; ///< empty: unknown
  bool counted = false;        ///< false: fewer than two of these times are known, so all are 0
  std::vector<bool> estimated; ///< by step: `ns` is the median of the other steps
};
/// Returns the idle time before each step: from the end of all earlier GPU work to the start of the
/// GPU work of the step. It is unknown for the first step and if a step before was not recorded;
/// `recorded` contains the numbers of the recorded steps, of which those without GPU work are not
/// in `steps`. If only two of these times are known, the others count as their median, so that
/// three steps remain three samples. `steps` must be ordered by start.
[[nodiscard]] IdleBeforeSteps idle_before_steps(std::span<const StepWindow> steps,
                                                const std::set<std::int64_t>& recorded = {});

/// Returns whether the time contains the idle time before a step.
[[nodiscard]] constexpr bool has_idle_before(TimeKind kind) {
  return kind == TimeKind::kTotal || kind == TimeKind::kIdle || kind == TimeKind::kMicroIdle ||
         kind == TimeKind::kMacroIdle;
}

/// Nanoseconds of each kind of time; 0 for kinds that the options do not request.
using KindTimes = std::array<std::int64_t, kTimeKinds>;

/// The timeline of one profiler step, with its GPU work (StepsOfGpuWork), even if that runs after
/// the step. The idle time between the GPU work of two steps belongs to the later step
/// (idle_before_steps()).
struct StepTimes {
  std::int64_t step = 0; ///< N of ProfilerStep#N
  KindTimes ns{};
  /// First start and last end of its GPU work, on the clock of the file.
  std::int64_t start_ns = 0, end_ns = 0;
  /// Whether the idle time before the step is known. If not, total and idle time lack it.
  bool complete = true;
  bool counts_idle = true; ///< IdleBeforeSteps::counted: equal for all steps of a trace
};
/// Returns the steps that have GPU work, ordered by start; empty without ProfilerStep#N. One pass
/// over the GPU events for all steps. Does not separate recomputed work.
[[nodiscard]] std::vector<StepTimes> step_times_of(const LoadedTrace& trace,
                                                   const TimelineKey& key);

struct StepTimeline {
  std::int64_t step = 0; ///< N of ProfilerStep#N
  bool complete = true;  ///< as in StepTimes
  /// The rows of TimelineKey for the GPU work of the step, with the idle time before it as in
  /// StepTimes. If recomputed work is separate, the blocks do not contain that time.
  std::vector<TimelineRow> rows;
};
/// Key of the timelines per step, ordered by step start. A step number occurs once; steps without
/// GPU work have rows of zeros. One pass over the GPU events.
struct StepTimelinesKey {
  using Value = std::vector<StepTimeline>;
  TimelineKey timeline;
  auto operator<=>(const StepTimelinesKey&) const = default;
};
[[nodiscard]] std::vector<StepTimeline> compute(const LoadedTrace& trace,
                                                const StepTimelinesKey& key);

/// Returns the columns of gpu_timeline.
[[nodiscard]] Schema<TimelineRow> timeline_schema(const TimelineKey& key);

} // namespace rankscope
