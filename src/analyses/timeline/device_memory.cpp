// device_memory: peaks of allocated memory per GPU.
#include "analyses/timeline/device_memory.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

struct Use {
  DeviceMemoryRow row;
  std::int64_t last_ns = 0;
  double byte_ns = 0;
  std::int64_t first_ns = 0;
};

std::vector<SheetInfo> describe_device_memory(const ReportOptions& /*options*/) {
  return {device_memory_schema().info()};
}

Result<std::vector<Table>> run_device_memory(const LoadedTrace& t,
                                             const ReportOptions& /*options*/) {
  const std::vector<DeviceMemoryRow> rows = device_memory_of(t.trace);
  if (rows.empty())
    return std::vector<Table>();
  return std::vector<Table>{device_memory_schema().table(rows)};
}

} // namespace

std::vector<DeviceMemoryRow> device_memory_of(const Trace& trace) {
  const Counters& c = trace.counters;
  const StrId name = trace.strings.find("GPU memory in use");
  const StrId scratch = trace.strings.find("GPU scratch memory in use");
  std::vector<DeviceMemoryRow> out;
  if (name == StringPool::kNotFound && scratch == StringPool::kNotFound)
    return out;
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  for (EventId e = 0; e < trace.events.size(); ++e) {
    begin_ns = std::min(begin_ns, trace.events.ts_ns[e]);
    end_ns = std::max(end_ns, trace.end_ns(e));
  }
  /// Memory use per device, separately for scratch memory.
  std::map<std::pair<std::int64_t, bool>, Use> devices;
  for (std::size_t i = 0; i < c.size(); ++i) { // samples of a device are ordered by time
    if (c.name[i] != name && c.name[i] != scratch)
      continue;
    begin_ns = std::min(begin_ns, c.ts_ns[i]);
    end_ns = std::max(end_ns, c.ts_ns[i]);
    Use& use = devices[{trace.tracks[c.track[i]].pid, c.name[i] == scratch}];
    if (use.row.changes++ == 0)
      use.first_ns = c.ts_ns[i];
    else
      use.byte_ns += use.row.end_bytes * static_cast<double>(c.ts_ns[i] - use.last_ns);
    use.last_ns = c.ts_ns[i];
    use.row.end_bytes = c.value[i];
    if (c.value[i] > use.row.peak_bytes) {
      use.row.peak_bytes = c.value[i];
      use.row.peak_at_ns = c.ts_ns[i];
    }
  }
  for (auto& [device, use] : devices) {
    DeviceMemoryRow row = use.row;
    row.device = device.first;
    row.scratch = device.second;
    row.peak_at_ns -= begin_ns;
    use.byte_ns += row.end_bytes * static_cast<double>(end_ns - use.last_ns);
    row.mean_bytes = end_ns > use.first_ns
                         ? use.byte_ns / static_cast<double>(end_ns - use.first_ns)
                         : row.end_bytes;
    out.push_back(row);
  }
  return out;
}

Schema<DeviceMemoryRow> device_memory_schema() {
  using Row = DeviceMemoryRow;
  const auto real = CellKind::kDouble;
  constexpr double kMiB = 1024.0 * 1024.0;
  return Schema<Row>(
      "device_memory", "memory allocated on each GPU, if the trace contains allocations",
      {{"device", &Row::device, "number of the GPU"},
       {"memory",
        [](const Row& r) { return std::string_view(r.scratch ? "scratch" : "allocated"); },
        "allocated: memory allocated by the program; scratch: memory allocated by the runtime for "
        "registers that kernels spill"},
       {"peak_mib", "peak (MiB)", Unit::kMiB, real,
        [](const Row& r) { return Value(r.peak_bytes / kMiB); },
        "maximum memory in use; allocations before the start of the trace are not included"},
       {"peak_at_ms", "peak at (ms)", Unit::kMs, real,
        [](const Row& r) { return Value(static_cast<double>(r.peak_at_ns) / 1e6); },
        "time from the start of the trace to the first moment at which the maximum was reached"},
       {"mean_mib", "mean (MiB)", Unit::kMiB, real,
        [](const Row& r) { return Value(r.mean_bytes / kMiB); },
        "mean memory in use, over the time from the first allocation to the end of the trace"},
       {"end_mib", "at end (MiB)", Unit::kMiB, real,
        [](const Row& r) { return Value(r.end_bytes / kMiB); },
        "memory in use at the end of the trace"},
       {"changes", Unit::kCount, &Row::changes, "number of allocations and releases"}});
}

const Analysis device_memory_analysis{"device_memory",
                                      "memory in use on each GPU",
                                      {"device_memory"},
                                      run_device_memory,
                                      describe_device_memory};

} // namespace rankscope
