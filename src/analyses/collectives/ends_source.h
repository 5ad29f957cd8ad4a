// align_clocks() of ranks whose collectives are not all in memory.
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
  /// The ranks (positions, ascending) that share a collective with `rank` and are kAlone in
  /// `so_far`; one that shares none may be among them.
  [[nodiscard]] virtual std::vector<std::size_t>
  sharing(std::size_t rank, const std::vector<ClockOffset>& so_far) = 0;
  /// `room` holds what is not in memory otherwise.
  [[nodiscard]] virtual const CollectiveEnds& ends(std::size_t rank, CollectiveEnds& room) = 0;
};
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const std::int64_t> ranks,
                                                    EndsSource& source);

} // namespace rankscope
