// gpu_timeline: how the GPU's time divides (docs/reference/report-rules.md 8). One row per kind of
// time; one block for ordinary and one for recomputed work when recompute is detected.
#include "analyses/timeline/gpu_timeline.h"

#include "analyses/operators/launchers.h"
#include "base/interval_set.h"
#include "base/units.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

enum class Bucket { kCompute, kCommunication, kMemcpy };

bool is_legacy_copy(std::string_view name) {
  if (name.size() > 3 && name.substr(name.size() - 3) == ".kd")
    name.remove_suffix(3);
  return name == "MEMORY_COPY_HOST_TO_DEVICE" || name == "MEMORY_COPY_DEVICE_TO_HOST" ||
         name == "MEMORY_COPY_DEVICE_TO_DEVICE" || name == "__amd_rocclr_copyBuffer" ||
         name == "__amd_rocclr_copyBufferAligned" || name == "__amd_rocclr_copyBufferRect" ||
         name == "__amd_rocclr_copyBufferRectAligned";
}

void add_block(const LoadedTrace& t, const LauncherIndex& index, const ReportOptions& options,
               const std::vector<bool>& legacy_copy, std::optional<bool> recompute,
               std::vector<TimelineRow>& rows) {
  const Events& e = t.trace.events;
  std::vector<Interval> by_bucket[3];
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const EventId i : index.gpu) {
    if (!t.tree.linked(i) && !options.include_unlinked_kernels)
      continue;
    if (recompute && index.recompute[i] != *recompute)
      continue;
    Bucket bucket = Bucket::kCompute;
    if (e.category[i] == Category::kGpuMemcpy || legacy_copy[e.name[i]])
      bucket = Bucket::kMemcpy;
    else if (index.communication[e.name[i]])
      bucket = Bucket::kCommunication;
    by_bucket[static_cast<int>(bucket)].push_back({e.ts_ns[i], t.trace.end_ns(i)});
    first = std::min(first, e.ts_ns[i]);
    last = std::max(last, t.trace.end_ns(i));
  }
  const IntervalSet compute(std::move(by_bucket[0]));
  const IntervalSet comm(std::move(by_bucket[1]));
  const IntervalSet memcpy_set(std::move(by_bucket[2]));
  const IntervalSet busy = compute.unite(comm).unite(memcpy_set);
  const std::int64_t total = last > first ? last - first : 0;
  const auto row = [&](TimeKind kind, std::int64_t ns) {
    const double percent =
        total > 0 ? static_cast<double>(ns) / static_cast<double>(total) * 100 : 0.0;
    rows.push_back({kind, ns, percent, recompute});
  };
  row(TimeKind::kComputation, compute.length());
  row(TimeKind::kExposedComm, comm.minus(compute).length());
  row(TimeKind::kExposedMemcpy, memcpy_set.minus(compute).minus(comm).length());
  row(TimeKind::kBusy, busy.length());
  if (options.micro_idle_us > 0) {
    std::int64_t micro = 0;
    std::int64_t macro = 0;
    const auto parts = busy.intervals();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::int64_t gap = parts[i].start - parts[i - 1].end;
      (ns_to_us(gap) < options.micro_idle_us ? micro : macro) += gap;
    }
    row(TimeKind::kMicroIdle, micro);
    row(TimeKind::kMacroIdle, macro);
  } else {
    row(TimeKind::kIdle, total - busy.length());
  }
  row(TimeKind::kTotal, total);
  row(TimeKind::kTotalComm, comm.length());
  row(TimeKind::kTotalMemcpy, memcpy_set.length());
}

std::vector<TimelineRow> make_timeline(const LoadedTrace& t, const ReportOptions& options) {
  const LauncherIndex& index = launchers_of(t, options);
  std::vector<bool> legacy_copy(t.trace.strings.size());
  for (StrId id = 0; id < t.trace.strings.size(); ++id)
    legacy_copy[id] = is_legacy_copy(t.trace.strings.view(id));
  std::vector<TimelineRow> rows;
  if (options.detect_recompute) {
    add_block(t, index, options, legacy_copy, false, rows);
    add_block(t, index, options, legacy_copy, true, rows);
  } else {
    add_block(t, index, options, legacy_copy, std::nullopt, rows);
  }
  return rows;
}

std::vector<SheetInfo> describe(const ReportOptions& options) {
  return {timeline_schema(options).info()};
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  out.push_back(timeline_schema(options).table(timeline_of(t, options)));
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

const std::vector<TimelineRow>& timeline_of(const LoadedTrace& trace,
                                            const ReportOptions& options) {
  const std::string key = fmt::format("timeline unlinked={} recompute={} micro_idle_us={}",
                                      options.include_unlinked_kernels, options.detect_recompute,
                                      options.micro_idle_us);
  return trace.cache.get<std::vector<TimelineRow>>(key,
                                                   [&] { return make_timeline(trace, options); });
}

Schema<TimelineRow> timeline_schema(const ReportOptions& options) {
  using R = TimelineRow;
  Schema<R> schema("gpu_timeline", "how the GPU's time divides, one row per kind of time",
                   {{"type", "type", Unit::kNone, CellKind::kText,
                     [](const R& r) { return Value(time_kind_name(r.kind)); }},
                    {"time_ms", "time ms", Unit::kMs, CellKind::kDouble,
                     [](const R& r) { return Value(ns_to_ms(r.time_ns)); },
                     "length of the union of the GPU work of this kind"},
                    {"percent", "percent", Unit::kPercent, CellKind::kDouble,
                     [](const R& r) { return Value(r.percent); }, "of total_time"}});
  if (options.detect_recompute)
    schema.add({"is_recompute", "is_recompute", Unit::kNone, CellKind::kBool,
                [](const R& r) { return Value(r.recompute); },
                "work that activation checkpointing repeats"});
  return schema;
}

const Analysis gpu_timeline_analysis{
    "gpu_timeline", "how the GPU's time divides", {"gpu_timeline"}, run, describe};

} // namespace rankscope
