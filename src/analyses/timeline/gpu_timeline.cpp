// gpu_timeline: how the GPU's time divides (perf-report.md 1.1). One row per kind of time; one
// block for ordinary and one for recomputed work when recompute is detected.
#include "analyses/operators/launchers.h"
#include "base/interval_set.h"
#include "base/units.h"

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
               const std::vector<bool>& legacy_copy, std::optional<bool> recompute, Table& table) {
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
  const auto row = [&](const char* type, std::int64_t ns) {
    const double percent =
        total > 0 ? static_cast<double>(ns) / static_cast<double>(total) * 100 : 0.0;
    std::vector<Value> values{type, ns_to_ms(ns), percent};
    if (recompute)
      values.emplace_back(*recompute);
    table.add_row(values);
  };
  row("computation_time", compute.length());
  row("exposed_comm_time", comm.minus(compute).length());
  row("exposed_memcpy_time", memcpy_set.minus(compute).minus(comm).length());
  row("busy_time", busy.length());
  if (options.micro_idle_us > 0) {
    std::int64_t micro = 0;
    std::int64_t macro = 0;
    const auto parts = busy.intervals();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::int64_t gap = parts[i].start - parts[i - 1].end;
      (ns_to_us(gap) < options.micro_idle_us ? micro : macro) += gap;
    }
    row("micro_idle_time", micro);
    row("macro_idle_time", macro);
  } else {
    row("idle_time", total - busy.length());
  }
  row("total_time", total);
  row("total_comm_time", comm.length());
  row("total_memcpy_time", memcpy_set.length());
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  const LauncherIndex& index = launchers_of(t, options);
  std::vector<bool> legacy_copy(t.trace.strings.size());
  for (StrId id = 0; id < t.trace.strings.size(); ++id)
    legacy_copy[id] = is_legacy_copy(t.trace.strings.view(id));
  std::vector<Column> columns{{"type"}, {"time ms", Unit::kMs}, {"percent", Unit::kPercent}};
  if (options.detect_recompute)
    columns.push_back({"is_recompute"});
  Table table("gpu_timeline", std::move(columns));
  if (options.detect_recompute) {
    add_block(t, index, options, legacy_copy, false, table);
    add_block(t, index, options, legacy_copy, true, table);
  } else {
    add_block(t, index, options, legacy_copy, std::nullopt, table);
  }
  std::vector<Table> out;
  out.push_back(std::move(table));
  return out;
}

} // namespace

const Analysis gpu_timeline_analysis{
    "gpu_timeline", "how the GPU's time divides", {"gpu_timeline"}, run};

} // namespace rankscope
