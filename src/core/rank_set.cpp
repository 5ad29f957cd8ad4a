#include "core/rank_set.h"

#include <algorithm>

namespace rankscope {

RankSet::RankSet(std::vector<std::int64_t> ranks) {
  std::erase_if(ranks, [](std::int64_t r) { return r < 0; });
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (std::size_t i = 0; i < ranks.size();) {
    Run run{ranks[i], ranks[i], 1};
    std::size_t end = i + 1;
    // two ranks are a run only if they are consecutive: 0 7 8 9 is 0 and 7-9, not 0-7 and 8-9
    if (end < ranks.size()) {
      const std::int64_t stride = ranks[end] - ranks[i];
      while (end < ranks.size() && ranks[end] - ranks[end - 1] == stride)
        ++end;
      if (stride == 1 || end - i > 2) {
        run.stride = stride;
        run.last = ranks[end - 1];
      } else {
        end = i + 1;
      }
    }
    runs_.push_back(run);
    i = end;
  }
}

bool RankSet::contains(std::int64_t rank) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), rank,
                       [](std::int64_t value, const Run& run) { return value < run.first; });
  if (after == runs_.begin())
    return false;
  const Run& run = *(after - 1);
  return rank <= run.last && (rank - run.first) % run.stride == 0;
}

std::uint64_t RankSet::size() const {
  std::uint64_t out = 0;
  for (const Run& run : runs_)
    out += static_cast<std::uint64_t>((run.last - run.first) / run.stride) + 1;
  return out;
}

std::vector<std::int64_t> RankSet::ranks(std::uint64_t most) const {
  std::vector<std::int64_t> out;
  for (const Run& run : runs_)
    for (std::int64_t r = run.first; out.size() < most; r += run.stride) {
      out.push_back(r);
      if (run.last - r < run.stride)
        break;
    }
  return out;
}

bool RankSet::sound() const {
  std::int64_t before = -1;
  for (const Run& run : runs_) {
    if (run.first <= before || run.last < run.first || run.stride < 1 ||
        (run.last - run.first) % run.stride != 0)
      return false;
    before = run.last;
  }
  return true;
}

} // namespace rankscope
