// gpu_timeline: GPU time by kind (docs/reference/report-rules.md 8). One row per kind of time. If
// recompute is detected, ordinary and recomputed work have separate blocks.
#include "analyses/timeline/gpu_timeline.h"

#include "analyses/operators/launchers.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/gpu_work.h"
#include "core/reference_time.h"
#include "core/steps.h"

#include <algorithm>
#include <map>
#include <set>

namespace rankscope {

bool is_legacy_copy(std::string_view name) {
  if (name.size() > 3 && name.substr(name.size() - 3) == ".kd")
    name.remove_suffix(3);
  return name == "MEMORY_COPY_HOST_TO_DEVICE" || name == "MEMORY_COPY_DEVICE_TO_HOST" ||
         name == "MEMORY_COPY_DEVICE_TO_DEVICE" || name == "__amd_rocclr_copyBuffer" ||
         name == "__amd_rocclr_copyBufferAligned" || name == "__amd_rocclr_copyBufferRect" ||
         name == "__amd_rocclr_copyBufferRectAligned";
}

namespace {

/// The intervals of some GPU events by bucket. T is the time type of BasicIntervalSet.
template <class T> struct BasicBuckets {
  std::vector<BasicInterval<T>> by_bucket[3];
  T first = std::numeric_limits<T>::max();
  T last = std::numeric_limits<T>::lowest();

  void add(TimelineBucket bucket, BasicInterval<T> at) {
    by_bucket[static_cast<int>(bucket)].push_back(at);
    first = std::min(first, at.start);
    last = std::max(last, at.end);
  }
};

using Buckets = BasicBuckets<std::int64_t>; ///< times in ns

class GpuTimelineSorter {
public:
  /// `communication`: by StrId; `copies_by_name`: kernels with names that is_legacy_copy() accepts
  /// count as copies.
  GpuTimelineSorter(const LoadedTrace& t, const std::vector<bool>& communication,
                    const TimelineKey& key, bool copies_by_name = true)
      : t_(t), communication_(communication), memset_as_memory_(key.memset_as_memory),
        legacy_copy_(t.trace.strings.size()) {
    for (StrId id = 0; copies_by_name && id < t.trace.strings.size(); ++id)
      legacy_copy_[id] = is_legacy_copy(t.trace.strings.view(id));
  }
  void add(EventId i, Buckets& to) const {
    to.add(bucket_of(i), {t_.trace.events.ts_ns[i], t_.trace.end_ns(i)});
  }
  /// Adds an event with the rounding of the reference.
  void add(EventId i, BasicBuckets<double>& to) const {
    to.add(bucket_of(i), reference_interval(t_.trace, i));
  }

  [[nodiscard]] TimelineBucket bucket_of(EventId i) const {
    const Events& e = t_.trace.events;
    if (e.category[i] == Category::kGpuMemcpy || legacy_copy_[e.name[i]])
      return TimelineBucket::kMemcpy;
    if (communication_[e.name[i]])
      return TimelineBucket::kCommunication;
    if (memset_as_memory_ && e.category[i] == Category::kGpuMemset)
      return TimelineBucket::kMemcpy;
    return TimelineBucket::kCompute;
  }

private:
  const LoadedTrace& t_;
  const std::vector<bool>& communication_;
  bool memset_as_memory_;
  std::vector<bool> legacy_copy_;
};

double gap_us(std::int64_t ns) {
  return ns_to_us(ns);
}
double gap_us(double us) {
  return us;
}

/// Returns the time of each kind, in the unit of the buckets. Sets both the idle time and its micro
/// and macro parts. `idle_before`: idle time before the first event that counts too. `others`:
/// other GPU work, during which the time is neither idle nor part of the total.
template <class T>
std::array<T, kTimeKinds> times_of(BasicBuckets<T> buckets, const TimelineKey& key,
                                   T idle_before = 0, const BasicIntervalSet<T>& others = {}) {
  using Set = BasicIntervalSet<T>;
  const Set span = buckets.last > buckets.first ? Set({{buckets.first, buckets.last}}) : Set();
  const Set compute(std::move(buckets.by_bucket[0]));
  const Set comm(std::move(buckets.by_bucket[1]));
  const Set memcpy_set(std::move(buckets.by_bucket[2]));
  const Set busy = compute.unite(comm).unite(memcpy_set);
  std::array<T, kTimeKinds> out{};
  const auto set = [&out](TimeKind kind, T time) { out[static_cast<std::size_t>(kind)] = time; };
  set(TimeKind::kComputation, compute.length());
  set(TimeKind::kExposedComm, comm.minus(compute).length());
  set(TimeKind::kExposedMemcpy, memcpy_set.minus(compute).minus(comm).length());
  set(TimeKind::kBusy, busy.length());
  T micro = 0;
  T macro = 0;
  const auto add_gap = [&](T gap) { (gap_us(gap) < key.micro_idle_us ? micro : macro) += gap; };
  add_gap(idle_before);
  const Set used = busy.unite(others.intersect(span));
  const auto parts = used.intervals();
  for (std::size_t i = 1; i < parts.size(); ++i)
    add_gap(parts[i].start - parts[i - 1].end);
  const T idle = idle_before + span.length() - used.length();
  set(TimeKind::kMicroIdle, micro);
  set(TimeKind::kMacroIdle, macro);
  set(TimeKind::kIdle, idle);
  set(TimeKind::kTotal, busy.length() + idle);
  set(TimeKind::kTotalComm, comm.length());
  set(TimeKind::kTotalMemcpy, memcpy_set.length());
  return out;
}

template <class T>
void add_rows(BasicBuckets<T> buckets, const TimelineKey& key, std::optional<bool> recompute,
              std::vector<TimelineRow>& rows, T idle_before = 0,
              const BasicIntervalSet<T>& others = {}) {
  const std::array<T, kTimeKinds> times = times_of(std::move(buckets), key, idle_before, others);
  const auto total = static_cast<double>(times[static_cast<std::size_t>(TimeKind::kTotal)]);
  constexpr double kNs = std::is_same_v<T, double> ? 1e3 : 1; // ns per unit of T
  for (std::size_t k = 0; k < kTimeKinds; ++k) {
    const auto kind = static_cast<TimeKind>(k);
    const bool split = kind == TimeKind::kMicroIdle || kind == TimeKind::kMacroIdle;
    if (key.micro_idle_us > 0 ? kind == TimeKind::kIdle : split)
      continue;
    const auto time = static_cast<double>(times[k]);
    rows.push_back({kind, time * kNs, total > 0 ? time / total * 100 : 0.0, recompute});
  }
}

template <class T>
void add_block(const LoadedTrace& t, const LauncherIndex& index, const TimelineKey& key,
               const GpuTimelineSorter& sorter, std::optional<bool> recompute,
               std::vector<TimelineRow>& rows) {
  BasicBuckets<T> buckets;
  for (const EventId i : index.gpu)
    if ((t.tree.linked(i) || key.launchers.unlinked) &&
        (!recompute || index.recompute[i] == *recompute))
      sorter.add(i, buckets);
  std::vector<BasicInterval<T>> others;
  if (t.complete != nullptr && !key.launchers.compat) { // the reference counts it as idle time
    const Trace& all = t.complete->trace;
    for (EventId i = 0; i < all.events.size(); ++i)
      if (is_gpu(all.events.category[i]))
        others.push_back({static_cast<T>(all.events.ts_ns[i]), static_cast<T>(all.end_ns(i))});
  }
  add_rows(std::move(buckets), key, recompute, rows, T{0}, BasicIntervalSet<T>(std::move(others)));
}

} // namespace

std::vector<TimelineRow> compute(const LoadedTrace& t, const TimelineKey& key) {
  const LauncherIndex& index = t.shared(key.launchers);
  const GpuTimelineSorter sorter(t, index.communication, key);
  std::vector<TimelineRow> rows;
  const auto add = [&](std::optional<bool> recompute) {
    if (key.launchers.compat)
      add_block<double>(t, index, key, sorter, recompute, rows);
    else
      add_block<std::int64_t>(t, index, key, sorter, recompute, rows);
  };
  if (key.launchers.recompute) {
    add(false);
    add(true);
  } else {
    add(std::nullopt);
  }
  return rows;
}

namespace {

std::vector<SheetInfo> describe_gpu_timeline(const ReportOptions& options) {
  return {timeline_schema(options).info()};
}

Result<std::vector<Table>> run_gpu_timeline(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  out.push_back(timeline_schema(options).table(t.shared(TimelineKey{options})));
  if (!options.compat_tracelens && has_events(t.trace, Category::kGpuMemset))
    out.back().notes.emplace_back(options.memset_as_memory
                                      ? "memsets count as copies (--memset memory)"
                                      : "memsets count as computation (--memset compute)");
  return out;
}

constexpr std::array<std::string_view, kTimeKinds> kNames = {
    "computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
    "micro_idle_time",  "macro_idle_time",   "idle_time",           "total_time",
    "total_comm_time",  "total_memcpy_time"};

} // namespace

std::string_view time_kind_name(TimeKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<TimeKind> time_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name)
      return static_cast<TimeKind>(i);
  return std::nullopt;
}

std::vector<TimelineRow> timeline_of_events(const LoadedTrace& trace,
                                            std::span<const EventId> events,
                                            const std::vector<bool>& communication,
                                            const TimelineKey& key, bool copies_by_name) {
  const GpuTimelineSorter sorter(trace, communication, key, copies_by_name);
  std::vector<TimelineRow> rows;
  const auto add = [&](auto buckets) {
    for (const EventId i : events)
      sorter.add(i, buckets);
    add_rows(std::move(buckets), key, std::nullopt, rows);
  };
  if (key.launchers.compat)
    add(BasicBuckets<double>{});
  else
    add(Buckets{});
  return rows;
}

std::vector<TimelineBucket> timeline_buckets_of(const LoadedTrace& trace,
                                                std::span<const EventId> events,
                                                const TimelineKey& key) {
  const GpuTimelineSorter sorter(trace, trace.shared(key.launchers).communication, key);
  std::vector<TimelineBucket> out;
  out.reserve(events.size());
  for (const EventId e : events)
    out.push_back(sorter.bucket_of(e));
  return out;
}

namespace {

/// A step with GPU work.
struct WorkingStep {
  StepWindow at;
  std::array<Buckets, 2> buckets;               ///< ordinary and recomputed work
  std::optional<std::int64_t> idle_before = {}; ///< empty: unknown
  bool counts_idle = true;
};

/// Returns the steps that have GPU work, ordered by start.
std::vector<WorkingStep> working_steps(const LoadedTrace& t, const TimelineKey& key,
                                       const StepsOfGpuWork& steps, bool split) {
  const LauncherIndex& index = t.shared(key.launchers);
  const GpuTimelineSorter sorter(t, index.communication, key);
  std::map<std::int64_t, std::array<Buckets, 2>> by_step;
  for (const EventId i : index.gpu)
    if (const std::int64_t step = steps.of(t.trace, t.tree, i);
        step >= 0 && (t.tree.linked(i) || key.launchers.unlinked))
      sorter.add(i, by_step[step][split && index.recompute[i] ? 1 : 0]);
  std::vector<WorkingStep> out;
  for (const ProfilerStep& step : steps.steps())
    if (const auto at = by_step.find(step.number); at != by_step.end()) {
      const auto& [ordinary, recomputed] = at->second;
      const Interval window{std::min(ordinary.first, recomputed.first),
                            std::max(ordinary.last, recomputed.last)};
      out.push_back({{step.number, window}, std::move(at->second)});
      by_step.erase(at); // a repeated step number is one step
    }
  std::vector<StepWindow> windows;
  for (const WorkingStep& step : out)
    windows.push_back(step.at);
  const IdleBeforeSteps idle = idle_before_steps(windows, step_numbers(steps.steps()));
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s].idle_before = idle.ns[s];
    out[s].counts_idle = idle.counted;
  }
  return out;
}

} // namespace

IdleBeforeSteps idle_before_steps(std::span<const StepWindow> steps,
                                  const std::set<std::int64_t>& recorded) {
  constexpr std::size_t kFewestKnown = 2;
  IdleBeforeSteps all{std::vector<std::optional<std::int64_t>>(steps.size()), false,
                      std::vector<bool>(steps.size())};
  auto& out = all.ns;
  std::vector<double> known;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    std::int64_t next = s > 0 ? steps[s - 1].number + 1 : kNoId;
    while (next < steps[s].number && recorded.contains(next))
      ++next; // the step has no GPU work: the GPU is idle until the next one
    if (s > 0 && next == steps[s].number) {
      out[s] = std::max<std::int64_t>(0, steps[s].gpu.start - end);
      known.push_back(static_cast<double>(*out[s]));
    }
    end = std::max(end, steps[s].gpu.end);
  }
  if (known.size() < kFewestKnown)
    std::ranges::fill(out, 0);
  else if (known.size() == kFewestKnown)
    for (std::size_t s = 0; s < out.size(); ++s)
      if (!out[s]) {
        out[s] = static_cast<std::int64_t>(quantile_of(known, 0.5));
        all.estimated[s] = true;
      }
  all.counted = known.size() >= kFewestKnown;
  return all;
}

std::vector<StepTimes> step_times_of(const LoadedTrace& t, const TimelineKey& key) {
  const StepsOfGpuWork steps(t.trace, t.tree);
  std::vector<StepTimes> out;
  for (WorkingStep& step : working_steps(t, key, steps, false))
    out.push_back(
        {step.at.number, times_of(std::move(step.buckets[0]), key, step.idle_before.value_or(0)),
         step.at.gpu.start, step.at.gpu.end, step.idle_before.has_value(), step.counts_idle});
  return out;
}

std::vector<StepTimeline> compute(const LoadedTrace& t, const StepTimelinesKey& wanted) {
  const TimelineKey& key = wanted.timeline;
  const StepsOfGpuWork steps(t.trace, t.tree);
  const bool split = key.launchers.recompute;
  std::map<std::int64_t, WorkingStep> by_number;
  for (WorkingStep& step : working_steps(t, key, steps, split))
    by_number.emplace(step.at.number, std::move(step));
  std::vector<StepTimeline> out;
  std::set<std::int64_t> seen;
  for (const ProfilerStep& step : steps.steps()) {
    if (!seen.insert(step.number).second)
      continue; // a repeated step number is one step
    // a step without GPU work has rows of zeros
    WorkingStep& working = by_number.try_emplace(step.number, WorkingStep{{}, {}, 0}).first->second;
    auto& buckets = working.buckets;
    const std::optional<std::int64_t> idle_before = working.idle_before;
    StepTimeline timeline{step.number, idle_before.has_value(), {}};
    if (split) {
      add_rows(std::move(buckets[0]), key, false, timeline.rows);
      add_rows(std::move(buckets[1]), key, true, timeline.rows);
    } else {
      add_rows(std::move(buckets[0]), key, std::nullopt, timeline.rows, idle_before.value_or(0));
    }
    out.push_back(std::move(timeline));
  }
  return out;
}

Schema<TimelineRow> timeline_schema(const TimelineKey& key) {
  using R = TimelineRow;
  Schema<R> schema("gpu_timeline", "GPU time by kind, one row per kind",
                   {{"type", [](const R& r) { return time_kind_name(r.kind); }},
                    {"time_ms", "time ms", Unit::kMs, in_ms(&R::time_ns),
                     "GPU time of this kind; overlapping events count once"},
                    {"percent", Unit::kPercent, &R::percent, "share of total_time"}});
  if (key.launchers.recompute)
    schema.add({"is_recompute", &R::recompute,
                "whether the row contains work that activation checkpointing repeats"});
  return schema;
}

const Analysis gpu_timeline_analysis{
    "gpu_timeline", "GPU time by kind", {"gpu_timeline"}, run_gpu_timeline, describe_gpu_timeline};

} // namespace rankscope
