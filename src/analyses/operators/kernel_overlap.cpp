#include "analyses/operators/kernel_overlap.h"

#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "base/interval_set.h"
#include "base/number_text.h"
#include "base/sort.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

namespace rankscope {
namespace {

constexpr std::int64_t kLeastNs = 1000; // shorter overlaps are clock noise

} // namespace

KernelOverlaps::KernelOverlaps(const Trace& trace, const LauncherIndex& index)
    : operator_(trace.events.size(), kNoEvent) {
  const Events& e = trace.events;
  std::map<std::pair<std::int16_t, std::int32_t>, std::size_t> by_stream;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId k = index.gpu[g];
    operator_[k] = index.parent_op[g];
    if (e.dur_ns[k] < kLeastNs)
      continue;
    const auto [it, fresh] = by_stream.try_emplace({e.device[k], e.stream[k]}, lanes_.size());
    if (fresh)
      lanes_.push_back({e.device[k], e.stream[k], {}, {}});
    lanes_[it->second].events.push_back(k);
  }
  for (Lane& lane : lanes_) {
    sort_by_start(trace.events, lane.events);
    const std::size_t width = std::bit_ceil(lane.events.size());
    lane.latest_ns.assign(2 * width, std::numeric_limits<std::int64_t>::min());
    for (std::size_t i = 0; i < lane.events.size(); ++i)
      lane.latest_ns[width + i] = trace.end_ns(lane.events[i]);
    for (std::size_t i = width - 1; i > 0; --i)
      lane.latest_ns[i] = std::max(lane.latest_ns[2 * i], lane.latest_ns[2 * i + 1]);
  }
}

std::size_t KernelOverlaps::Lane::next_ending_after(std::size_t i, std::int64_t ns) const {
  const std::size_t width = latest_ns.size() / 2;
  if (i >= events.size())
    return events.size();
  std::size_t node = width + i;
  // continue with the next node to the right, as high in the tree as possible
  while (latest_ns[node] <= ns) {
    while ((node & (node + 1)) != 0 && node % 2 == 1)
      node /= 2;
    if ((node & (node + 1)) == 0) // last node of its level
      return events.size();
    ++node;
  }
  while (node < width)
    node = latest_ns[2 * node] > ns ? 2 * node : 2 * node + 1;
  return node - width;
}

KernelOverlaps::Call KernelOverlaps::find(const Trace& trace,
                                          std::span<const EventId> kernels) const {
  const Events& e = trace.events;
  std::vector<EventId> sorted(kernels.begin(), kernels.end());
  std::sort(sorted.begin(), sorted.end());
  std::map<EventId, std::vector<Interval>> found; // overlapping event -> times of the overlaps
  std::vector<Interval> covered;
  for (const EventId k : kernels) {
    const std::int64_t start = e.ts_ns[k];
    const std::int64_t end = trace.end_ns(k);
    for (const Lane& lane : lanes_) {
      if (lane.stream >= 0 && lane.stream == e.stream[k] && lane.device == e.device[k])
        continue;
      for (std::size_t i = lane.next_ending_after(0, start);
           i < lane.events.size() && e.ts_ns[lane.events[i]] < end;
           i = lane.next_ending_after(i + 1, start)) {
        const EventId other = lane.events[i];
        const Interval both{std::max(start, e.ts_ns[other]), std::min(end, trace.end_ns(other))};
        if (both.end - both.start < kLeastNs ||
            (operator_[other] != kNoEvent && operator_[other] == operator_[k]) ||
            std::binary_search(sorted.begin(), sorted.end(), other))
          continue;
        found[other].push_back(both);
        covered.push_back(both);
      }
    }
  }
  Call out;
  out.kernel_ns = static_cast<std::int64_t>(busy_ns(trace, kernels, false));
  out.covered_ns = IntervalSet(std::move(covered)).length();
  for (const auto& entry : found)
    out.others.push_back(entry.first);
  sort_by_start(trace.events, out.others);
  for (const EventId other : out.others)
    out.other_ns.push_back(IntervalSet(std::move(found[other])).length());
  return out;
}

KernelOverlaps compute(const LoadedTrace& trace, const OverlapsKey& key) {
  return {trace.trace, trace.shared(key.launchers)};
}

std::uint32_t OverlapGroups::id_of(const Trace& trace, const KernelOverlaps::Call& call) {
  if (call.others.empty())
    return 0;
  std::vector<StrId> names;
  for (const EventId other : call.others)
    names.push_back(trace.events.name[other]);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return ids_.try_emplace(std::move(names), static_cast<std::uint32_t>(ids_.size() + 1))
      .first->second;
}

OverlapCells overlap_cells(const Trace& trace, std::span<const KernelOverlaps::Call> calls) {
  struct Entry {
    std::int64_t covered_ns = 0;
    std::vector<std::int64_t> durations_ns;
    Stats stats;
  };
  using Key = std::pair<std::string_view, std::int32_t>; // kernel name, stream
  std::map<Key, Entry> entries;
  std::int64_t covered = 0;
  std::int64_t total = 0;
  for (const KernelOverlaps::Call& call : calls) {
    covered += call.covered_ns;
    total += call.kernel_ns;
    for (std::size_t i = 0; i < call.others.size(); ++i) {
      const EventId other = call.others[i];
      Entry& entry = entries[{trace.name(other), trace.events.stream[other]}];
      entry.covered_ns += call.other_ns[i];
      entry.durations_ns.push_back(trace.events.dur_ns[other]);
    }
  }
  OverlapCells out;
  out.pct = std::numeric_limits<double>::quiet_NaN();
  if (entries.empty() || total <= 0)
    return out;
  const auto share = [total](std::int64_t ns) {
    return round_decimals(static_cast<double>(ns) / static_cast<double>(total), 2);
  };
  std::vector<std::pair<const Key*, Entry*>> order;
  for (auto& [key, entry] : entries) {
    entry.stats = stats_of_ns(std::move(entry.durations_ns));
    order.emplace_back(&key, &entry);
  }
  sort_stably(order, [](const auto& a, const auto& b) {
    return a.second->covered_ns > b.second->covered_ns;
  });
  std::string summary = "[";
  std::string truncated = "[";
  for (const auto& [key, entry] : order) {
    const char* const comma = summary.size() == 1 ? "" : ", ";
    const Stats& s = entry->stats;
    const std::string pct = ", 'overlap_pct': " + python_float(share(entry->covered_ns));
    summary += comma + kernel_entry(key->first, key->second, s, pct);
    truncated += comma + short_kernel_entry(key->first, key->second, s, pct);
  }
  out.pct = share(covered);
  out.summary = summary + "]";
  out.truncated = truncated + "]";
  return out;
}

} // namespace rankscope
