// Clock offsets between ranks from the ends of collectives: all members leave a collective within
// microseconds, whatever their clocks say.
#pragma once

#include "core/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The collectives of one rank, as (identity, end in unix ns). Identity: process group, name and
/// Seq; where Seq is missing, the n-th one of that name in its group.
struct CollectiveEnds {
  std::int64_t rank = 0;
  std::vector<std::pair<std::string, std::int64_t>> ends; ///< sorted by identity
};

/// Kernels with collective arguments and a group of at least two; send and recv are left out.
[[nodiscard]] CollectiveEnds collective_ends(const Trace& trace, std::int64_t rank);

struct ClockOffset {
  std::int64_t rank = 0;
  std::int64_t offset_ns = 0;   ///< this rank's clock is ahead of the reference by this much
  std::int64_t residual_ns = 0; ///< median distance of the collective ends from that offset
  std::size_t samples = 0;      ///< collectives shared with `via`
  std::int64_t via = 0;         ///< the rank it was compared with; itself for the reference
  bool aligned = false;         ///< false: it shares no collective with an aligned rank
};

/// One entry per rank, in the order given. The first rank is the reference (offset 0); a rank that
/// shares no collective with it is compared with one that does. Median over the shared ends, so
/// that single late leavers do not count. O(n log n) in all ends.
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks);

} // namespace rankscope
