#include "pages/data/shown_ranks.h"

#include "base/sort.h"

#include <cmath>

namespace rankscope {
namespace {

bool marked(const TopRankRow& row) {
  return row.slow || row.late;
}
std::size_t count(const std::vector<bool>& shown) {
  return static_cast<std::size_t>(std::count(shown.begin(), shown.end(), true));
}
/// Selects the ranks with the highest and the lowest values of a time.
void select_ends(const TopFacts& top, double TopRankRow::*time, std::vector<bool>& shown) {
  constexpr std::size_t kEach = 8;
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < top.ranks.size(); ++r)
    if (std::isfinite(top.ranks[r].*time))
      order.push_back(r);
  sort_stably(
      order, [&](std::size_t a, std::size_t b) { return top.ranks[a].*time < top.ranks[b].*time; });
  for (std::size_t i = 0; i < std::min(kEach, order.size()); ++i)
    shown[order[i]] = shown[order[order.size() - 1 - i]] = true;
}

} // namespace

ShownRanks::ShownRanks(const TopFacts& top) : place_(top.ranks.size(), kNone) {
  const std::size_t all = top.ranks.size();
  std::vector<bool> shown(all, all <= kMost);
  if (all > kMost) {
    for (const auto time : {&TopRankRow::total_ms, &TopRankRow::compute_ms, &TopRankRow::exposed_ms,
                            &TopRankRow::idle_ms, &TopRankRow::late_us})
      select_ends(top, time, shown);
    for (std::size_t r = 0; r < all; ++r)
      shown[r] = shown[r] || (marked(top.ranks[r]) && count(shown) < kMost / 2);
    const std::size_t left = kMost - count(shown);
    for (std::size_t i = 0; i < left; ++i) // add other ranks at even distances
      shown[i * all / left] = true;
  }
  for (std::size_t r = 0; r < all; ++r)
    if (shown[r]) {
      place_[r] = static_cast<std::uint32_t>(ranks_.size());
      ranks_.push_back(r);
    }
}

} // namespace rankscope
