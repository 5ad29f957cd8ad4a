#include "analyses/collectives/run_clock.h"

#include "core/trace.h"

#include <algorithm>

namespace rankscope {

RunClock::RunClock(std::vector<RankTimes> ranks, const CollectiveFacts* collectives) {
  for (RankTimes& r : ranks) {
    lowest_base_ns_ = lowest_base_ns_ == 0 ? r.base_ns : std::min(lowest_base_ns_, r.base_ns);
    const std::int64_t rank = r.rank;
    ranks_.emplace(rank, std::move(r));
  }
  if (collectives != nullptr) {
    clocks_ = clocks_of(collectives->ranks, collectives->offsets,
                        collectives->clocks.empty() ? AlignMode::kBase : AlignMode::kCollectives);
    for (std::size_t i = 0; i < collectives->ranks.size(); ++i)
      places_[collectives->ranks[i].rank] = i;
  }
  std::optional<std::int64_t> first;
  for (const auto& [rank, times] : ranks_)
    if (times.first_ns) {
      const std::int64_t at = common(rank, *times.first_ns);
      first = std::min(first.value_or(at), at);
    }
  origin_ns_ = first.value_or(0);
}

std::int64_t RunClock::common(std::int64_t rank, std::int64_t ts_ns) const {
  if (const auto place = places_.find(rank); place != places_.end())
    return clocks_.common(place->second, ts_ns);
  const auto times = ranks_.find(rank);
  const std::int64_t base_ns = times == ranks_.end() ? lowest_base_ns_ : times->second.base_ns;
  // clamped so that sums of times do not overflow
  return ts_ns + std::clamp(base_ns - lowest_base_ns_, -kMaxTimeNs / 2, kMaxTimeNs / 2);
}

std::int64_t RunClock::since_start(std::int64_t rank, std::int64_t ts_ns) const {
  return common(rank, ts_ns) - origin_ns_;
}

} // namespace rankscope
