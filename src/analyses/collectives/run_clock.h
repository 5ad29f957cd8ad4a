// Times since the start of a run, as the axis of a run's page shows them.
#pragma once

#include "analyses/collectives/collective_times.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// The times of one rank on the clock of its file.
struct RankTimes {
  std::int64_t rank = 0;
  std::int64_t base_ns = 0;             ///< unix time of the file's time 0; 0: unknown
  std::optional<std::int64_t> first_ns; ///< start of the first GPU event; empty without one
};

/// Converts times in the files of ranks to the time since the first GPU event of the run, on one
/// clock, which is aligned by the collectives of the ranks.
class RunClock {
public:
  RunClock() = default;
  /// `collectives`: facts of the same run; nullptr without collectives. The object does not refer
  /// to them.
  RunClock(std::vector<RankTimes> ranks, const CollectiveFacts* collectives);

  /// Returns the time since the first GPU event of the run; negative before this event.
  [[nodiscard]] std::int64_t since_start(std::int64_t rank, std::int64_t ts_ns) const;

  /// Returns the first GPU event of the run on the common clock of the collectives.
  [[nodiscard]] std::int64_t origin_ns() const { return origin_ns_; }

private:
  [[nodiscard]] std::int64_t common(std::int64_t rank, std::int64_t ts_ns) const;

  std::map<std::int64_t, RankTimes> ranks_;
  std::int64_t lowest_base_ns_ = 0;
  Clocks clocks_;
  std::map<std::int64_t, std::size_t> places_; ///< index among the ranks with collectives
  std::int64_t origin_ns_ = 0;
};

} // namespace rankscope
