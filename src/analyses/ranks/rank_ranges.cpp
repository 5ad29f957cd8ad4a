#include "analyses/ranks/rank_ranges.h"

#include "base/sort.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace rankscope {

std::vector<FoundRanks> in_ranges(const std::vector<FoundRank>& ranks) {
  constexpr double kAlike = 2;
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranks[a].rank < ranks[b].rank; });
  std::vector<FoundRanks> out;
  for (const std::size_t i : order) {
    const FoundRank& r = ranks[i];
    if (!out.empty() && out.back().last + 1 == r.rank && r.excess < kAlike * out.back().least &&
        out.back().most < kAlike * r.excess) {
      out.back().last = r.rank;
      out.back().least = std::min(out.back().least, r.excess);
      out.back().most = std::max(out.back().most, r.excess);
    } else {
      out.push_back({r.rank, r.rank, r.excess, r.excess, {}});
    }
    out.back().members.push_back(i);
  }
  sort_stably(out, std::ranges::greater(), &FoundRanks::most);
  return out;
}

std::string range_name(const FoundRanks& range, std::int64_t per_node) {
  if (range.first == range.last)
    return fmt::format("rank {}", range.first);
  const bool node =
      per_node > 1 && range.first % per_node == 0 && range.last - range.first == per_node - 1;
  return fmt::format("ranks {}-{}{}", range.first, range.last,
                     node ? fmt::format(" (node {})", range.first / per_node) : std::string());
}

} // namespace rankscope
