#include "pages/data/shown_ranks.h"

#include <cmath>

namespace rankscope {
namespace {

bool marked(const TopRankRow& row) {
  return row.slow || row.late;
}
std::size_t count(const std::vector<bool>& take) {
  return static_cast<std::size_t>(std::count(take.begin(), take.end(), true));
}
/// Selects the ranks with the highest and the lowest values of a time.
void take_ends(const TopFacts& top, double TopRankRow::*of, std::vector<bool>& take) {
  constexpr std::size_t kEach = 8;
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < top.ranks.size(); ++r)
    if (std::isfinite(top.ranks[r].*of))
      order.push_back(r);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return top.ranks[a].*of < top.ranks[b].*of; });
  for (std::size_t i = 0; i < std::min(kEach, order.size()); ++i)
    take[order[i]] = take[order[order.size() - 1 - i]] = true;
}

} // namespace

ShownRanks::ShownRanks(const TopFacts& top) : place_(top.ranks.size(), kNone) {
  const std::size_t all = top.ranks.size();
  std::vector<bool> take(all, all <= kMost);
  if (all > kMost) {
    for (const auto of : {&TopRankRow::total_ms, &TopRankRow::compute_ms, &TopRankRow::exposed_ms,
                          &TopRankRow::idle_ms, &TopRankRow::late_us})
      take_ends(top, of, take);
    for (std::size_t r = 0; r < all; ++r)
      take[r] = take[r] || (marked(top.ranks[r]) && count(take) < kMost / 2);
    const std::size_t left = kMost - count(take);
    for (std::size_t i = 0; i < left; ++i) // add other ranks at even distances
      take[i * all / left] = true;
  }
  for (std::size_t r = 0; r < all; ++r)
    if (take[r]) {
      place_[r] = static_cast<std::uint32_t>(ranks_.size());
      ranks_.push_back(r);
    }
}

} // namespace rankscope
