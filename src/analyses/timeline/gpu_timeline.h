// How the GPU's time divides: the facts behind gpu_timeline.
#pragma once

#include "analyses/operators/launchers.h"

#include <array>
#include <optional>
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
/// "computation_time", ...: the names of the rows.
[[nodiscard]] std::string_view time_kind_name(TimeKind kind);
[[nodiscard]] std::optional<TimeKind> time_kind_named(std::string_view name);

struct TimelineRow {
  TimeKind kind = TimeKind::kComputation;
  double time_ns = 0;            ///< an integer except in compat mode
  double percent = 0;            ///< of total_time; 0 when that is 0
  std::optional<bool> recompute; ///< of the block of ordinary or recomputed work
};

/// In the order of the sheet, without the idle rows that the key does not ask for.
struct TimelineKey {
  using Value = std::vector<TimelineRow>;
  LaunchersKey launchers;
  double micro_idle_us = 0;      ///< 0 = one idle_time row
  bool memset_as_memory = false; ///< with the copies, not with computation
  TimelineKey() = default;
  TimelineKey(const ReportOptions& o)
      : launchers(o), micro_idle_us(o.micro_idle_us), memset_as_memory(o.memset_as_memory) {}
  auto operator<=>(const TimelineKey&) const = default;
};
[[nodiscard]] std::vector<TimelineRow> compute(const LoadedTrace& trace, const TimelineKey& key);

/// The same of these GPU events alone, for a report with separate rules: `communication` by
/// StrId; copies are those of the category gpu_memcpy and, with `copies_by_name`, older kernels
/// that copy.
[[nodiscard]] std::vector<TimelineRow> timeline_of_events(const LoadedTrace& trace,
                                                          std::span<const EventId> events,
                                                          const std::vector<bool>& communication,
                                                          const TimelineKey& key,
                                                          bool copies_by_name);

/// Kernels of older AMD runtimes that are copies.
[[nodiscard]] bool is_legacy_copy(std::string_view name);

/// What a GPU event counts as in the timeline.
enum class TimelineBucket : std::uint8_t { kCompute, kCommunication, kMemcpy };
/// Of each of these GPU events.
[[nodiscard]] std::vector<TimelineBucket> timeline_buckets_of(const LoadedTrace& trace,
                                                              std::span<const EventId> events,
                                                              const TimelineKey& key);

/// Nanoseconds of each kind of time; kinds that the options do not ask for are 0.
using KindTimes = std::array<std::int64_t, kTimeKinds>;

/// The timeline of one profiler step: the GPU work that its CPU calls launched, however late it
/// runs; work without a launch by its own start.
struct StepTimes {
  std::int64_t step = 0; ///< N of ProfilerStep#N
  KindTimes ns{};
  std::int64_t start_ns = 0, end_ns = 0; ///< of its GPU work, as in the file
};
/// By start of the step, without steps that have no GPU work; empty without ProfilerStep#N. One
/// pass over the GPU events for all steps; does not separate recomputed work.
[[nodiscard]] std::vector<StepTimes> step_times_of(const LoadedTrace& trace,
                                                   const TimelineKey& key);

struct StepTimeline {
  std::int64_t step = 0;         ///< N of ProfilerStep#N
  std::vector<TimelineRow> rows; ///< as those of TimelineKey of the step alone
};
/// By start of the step, each number once, also those without GPU work (rows of zeros). One pass
/// over the GPU events.
struct StepTimelinesKey {
  using Value = std::vector<StepTimeline>;
  TimelineKey timeline;
  auto operator<=>(const StepTimelinesKey&) const = default;
};
[[nodiscard]] std::vector<StepTimeline> compute(const LoadedTrace& trace,
                                                const StepTimelinesKey& key);

/// The columns of gpu_timeline.
[[nodiscard]] Schema<TimelineRow> timeline_schema(const TimelineKey& key);

} // namespace rankscope
