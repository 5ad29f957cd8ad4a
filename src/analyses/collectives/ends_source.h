// align_clocks() for ranks whose collectives are not all in memory.
#pragma once

#include "analyses/collectives/clock_alignment.h"
#include "base/noncopyable.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

class EndsSource : public Interface {
public:
  /// Returns the positions, ascending, of ranks that are kAlone in `so_far` and share a collective
  /// with `rank`. The result may include ranks that share no collective.
  [[nodiscard]] virtual std::vector<std::size_t>
  sharing(std::size_t rank, const std::vector<ClockOffset>& so_far) = 0;
  /// Returns the ends of a rank; loads them into `room` if they are not in memory.
  [[nodiscard]] virtual const CollectiveEnds& ends(std::size_t rank, CollectiveEnds& room) = 0;
};
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const std::int64_t> ranks,
                                                    EndsSource& source);

} // namespace rankscope
