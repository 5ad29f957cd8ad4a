#include "core/trace.h"

#include "base/sort.h"

#include <algorithm>
#include <array>

namespace rankscope {
namespace {

template <class T> std::uint64_t bytes_of(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

/// Returns the entry for event `e` in a list sorted by event, or nullptr.
template <class T> const T* found_at(const std::vector<std::pair<EventId, T>>& list, EventId e) {
  const auto it = std::lower_bound(list.begin(), list.end(), e,
                                   [](const auto& entry, EventId id) { return entry.first < id; });
  return it != list.end() && it->first == e ? &it->second : nullptr;
}

} // namespace

std::string_view category_name(Category c) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"cpu_op", "user_annotation", "gpu_user_annotation", "kernel", "gpu_memcpy", "gpu_memset",
       "cuda_runtime", "cuda_driver", "python_function", "overhead", "cuda_sync", "cuda_event",
       "cpu_instant_event", "other"});
  return kNames[static_cast<std::size_t>(c)];
}

void sort_by_start(const Events& events, std::vector<EventId>& ids) {
  sort_ids_stably(ids, [&](EventId a, EventId b) { return events.ts_ns[a] < events.ts_ns[b]; });
}

EventRow Events::row(EventId e) const {
  EventRow out;
  each_column([&](auto column, auto field) { out.*field = (this->*column)[e]; });
  out.source = source.empty() ? std::uint16_t{0} : source[e];
  return out;
}

const Clock& Trace::clock() const {
  static const Clock kNone;
  return sources.empty() ? kNone : sources.front().clock;
}

const OpArgs* Trace::op(EventId e) const {
  const std::uint32_t row = events.args[e];
  return events.category[e] == Category::kCpuOp && row != kNoRow ? &op_args[row] : nullptr;
}

const GpuArgs* Trace::gpu_arg(EventId e) const {
  const std::uint32_t row = events.args[e];
  return is_gpu(events.category[e]) && row != kNoRow ? &gpu_args[row] : nullptr;
}

const LaunchArgs* Trace::launch_arg(EventId e) const {
  const std::uint32_t row = events.args[e];
  return is_runtime(events.category[e]) && row != kNoRow ? &launch_args[row] : nullptr;
}

const CollectiveArgs* Trace::collective_of(EventId e) const {
  return found_at(collectives, e);
}

const GraphNode* Trace::graph_node_of(EventId e) const {
  return found_at(graph_nodes, e);
}

std::uint64_t Trace::memory_bytes() const {
  std::uint64_t columns = 0;
  Events::each_column([&](auto column, auto) { columns += bytes_of(events.*column); });
  return strings.bytes() + bytes_of(tracks) + columns + bytes_of(events.source) +
         bytes_of(counters.track) + bytes_of(counters.name) + bytes_of(counters.ts_ns) +
         bytes_of(counters.value) + bytes_of(counters.unit) + bytes_of(flows.id) +
         bytes_of(flows.ts_ns) + bytes_of(flows.track) + bytes_of(flows.kind) + bytes_of(op_args) +
         bytes_of(gpu_args) + bytes_of(python_args) + bytes_of(launch_args) +
         bytes_of(collectives) + bytes_of(kernel_counters) + bytes_of(graph_nodes);
}

std::string Trace::vendor() const {
  for (const DeviceInfo& d : header.devices) {
    if (d.warp_size == 64)
      return "AMD";
    if (d.warp_size == 32)
      return "NVIDIA";
  }
  for (const auto& [key, value] : header.other) {
    if (key.find("hip_") == 0 || key.find("roc") == 0)
      return "AMD";
    if (key.find("cuda_") == 0 || key.find("cupti") == 0)
      return "NVIDIA";
  }
  return "";
}

} // namespace rankscope
