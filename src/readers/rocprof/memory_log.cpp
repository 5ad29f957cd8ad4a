#include "readers/rocprof/memory_log.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace rankscope {

void MemoryLog::allocate(std::int64_t at_ns, std::uint64_t address, std::int64_t bytes,
                         std::int64_t device) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50; // a larger size is wrong (damaged file)
  if (bytes >= 0 && bytes <= kMost)
    rows_.push_back({at_ns, address, bytes, device});
}

void MemoryLog::release(std::int64_t at_ns, std::uint64_t address) {
  rows_.push_back({at_ns, address, -1, -1});
}

std::uint64_t MemoryLog::put(TraceBuilder& out) {
  std::ranges::stable_sort(rows_, [](const Row& a, const Row& b) { return a.at_ns < b.at_ns; });
  const StrId name = out.text(name_);
  const StrId unit = out.text("bytes");
  struct Use {
    std::uint32_t track = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::int64_t, Use> devices;
  std::unordered_map<std::uint64_t, std::pair<std::int64_t, std::int64_t>>
      allocations; ///< by address
  std::uint64_t strange = 0;
  const auto change = [&](std::int64_t device, std::int64_t bytes, std::int64_t at_ns) {
    if (device < 0)
      return;
    const auto [it, fresh] = devices.try_emplace(device);
    if (fresh)
      it->second.track = out.track({device, -1});
    it->second.bytes += bytes;
    out.sample(it->second.track, name, at_ns, static_cast<double>(it->second.bytes), unit);
  };
  for (const Row& row : rows_) {
    const auto before = allocations.find(row.address);
    if (before != allocations.end()) { // it was released, or its release was not recorded
      const auto [device, bytes] = before->second;
      allocations.erase(before);
      change(device, -bytes, row.at_ns);
    } else if (row.bytes < 0) {
      ++strange;
    }
    if (row.bytes < 0)
      continue;
    allocations.emplace(row.address, std::pair(row.device, row.bytes));
    change(row.device, row.bytes, row.at_ns);
  }
  rows_.clear();
  return strange;
}

} // namespace rankscope
