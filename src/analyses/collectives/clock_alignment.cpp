#include "analyses/collectives/clock_alignment.h"

#include "model/bus_bandwidth.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

/// Lower median; v is reordered and must not be empty.
std::int64_t median(std::vector<std::int64_t>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// end_a - end_b for each collective that both have.
std::vector<std::int64_t> differences(const CollectiveEnds& a, const CollectiveEnds& b) {
  std::vector<std::int64_t> out;
  auto i = a.ends.begin();
  auto j = b.ends.begin();
  while (i != a.ends.end() && j != b.ends.end()) {
    const int order = i->first.compare(j->first);
    if (order == 0)
      out.push_back(i->second - j->second);
    if (order <= 0)
      ++i;
    if (order >= 0)
      ++j;
  }
  return out;
}

} // namespace

CollectiveEnds collective_ends(const Trace& trace, std::int64_t rank) {
  CollectiveEnds out;
  out.rank = rank;
  struct Item {
    std::int64_t start, end;
    const CollectiveArgs* args;
  };
  std::vector<Item> items;
  for (const auto& [event, args] : trace.collectives) {
    if (trace.events.category[event] != Category::kKernel || args.group_size == 1)
      continue;
    const CollectiveKind kind = collective_kind(trace.strings.view(args.collective_name));
    if (kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv)
      continue;
    items.push_back({trace.events.ts_ns[event], trace.end_ns(event), &args});
  }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.start < b.start; });
  std::map<std::pair<StrId, StrId>, std::size_t> nth;
  for (const Item& item : items) {
    const CollectiveArgs& a = *item.args;
    const std::size_t n = nth[{a.pg_name, a.collective_name}]++;
    // Seq alone does not identify: coalesced operations share one.
    out.ends.emplace_back(fmt::format("{}\x1f{}\x1f{}{}", trace.strings.view(a.pg_name),
                                      trace.strings.view(a.collective_name),
                                      a.seq == kNoId ? "n" : "s",
                                      a.seq == kNoId ? static_cast<std::int64_t>(n) : a.seq),
                          item.end + trace.clock().offset_ns);
  }
  std::stable_sort(out.ends.begin(), out.ends.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  out.ends.erase(std::unique(out.ends.begin(), out.ends.end(),
                             [](const auto& a, const auto& b) { return a.first == b.first; }),
                 out.ends.end());
  return out;
}

std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks) {
  std::vector<ClockOffset> out(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    out[i].rank = out[i].via = ranks[i].rank;
  if (ranks.empty())
    return out;
  out[0].aligned = true;
  std::vector<std::size_t> queue = {0};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::size_t base = queue[next];
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (out[i].aligned)
        continue;
      std::vector<std::int64_t> d = differences(ranks[i], ranks[base]);
      if (d.empty())
        continue;
      ClockOffset& o = out[i];
      const std::int64_t m = median(d);
      o.offset_ns = out[base].offset_ns + m;
      o.samples = d.size();
      for (std::int64_t& v : d)
        v = std::abs(v - m);
      o.residual_ns = median(d);
      o.via = ranks[base].rank;
      o.aligned = true;
      queue.push_back(i);
    }
  }
  return out;
}

} // namespace rankscope
