// Clock offsets between ranks from the ends of collectives: all members leave a collective within
// microseconds of each other. Each fit is checked before its use.
#pragma once

#include "analyses/collectives/collective_match.h"
#include "core/clock_line.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The start and end of a collective on one rank, in unix ns.
struct SharedEnd {
  std::size_t id = 0; ///< number of the collective, equal on all ranks
  std::int64_t start_ns = 0, end_ns = 0;
};

/// The collectives of one rank that can align its clock, ascending by id.
struct CollectiveEnds {
  std::int64_t rank = 0;
  std::vector<SharedEnd> ends;
};

/// Returns, per rank, the matched synchronizing collectives (synchronises()) with at least two
/// members. Sends, receives and collectives of unknown kind are left out.
[[nodiscard]] std::vector<CollectiveEnds>
collective_ends(std::span<const RankCollectives> ranks, std::span<const MatchedCollective> matched);

/// The result of aligning a rank's clock.
enum class ClockFit : std::uint8_t {
  kReference, ///< the rank that the other ranks are measured against
  kAligned,
  kPoor,  ///< the ends scatter too much to align the clock, so it stays on the time base
  kAlone, ///< the rank shares no collective with an aligned rank, so its clock stays on the time
          ///< base
};

struct ClockOffset {
  std::int64_t rank = 0;
  /// Lead of this rank's clock over the reference's. Its from_ns is in the middle of the shared
  /// collectives. It has a drift only if these collectives show one.
  ClockLine line;
  std::int64_t residual_ns = 0; ///< median distance of the collective ends from `line`
  std::int64_t effect_ns = 0;   ///< median distance of the collective starts from `line`:
                                ///< the effect to be measured
  std::size_t samples = 0;      ///< collectives shared with `via`
  std::int64_t via = 0; ///< rank that it was compared with; for the reference, the rank itself
  ClockFit fit = ClockFit::kAlone;

  [[nodiscard]] bool aligned() const {
    return fit == ClockFit::kReference || fit == ClockFit::kAligned;
  }
  /// Returns the correction subtracted from this rank's times: zero unless aligned.
  [[nodiscard]] ClockLine used() const { return aligned() ? line : ClockLine{}; }
  /// Returns whether the ends scatter more than within one run: by over 50 us and by over half the
  /// effect.
  [[nodiscard]] bool scattered() const;
};

/// Returns one entry per rank, in the order given. The first rank is the reference (offset 0). A
/// rank that shares no collective with the reference is compared with a rank that does. The offset
/// is a median over the shared ends, so single late leavers do not count. The line has a drift if
/// the outer thirds of the window differ by more than four standard errors of their medians. A fit
/// is kPoor if its residual is above 20 us, half of the effect and a third of the offset. If one
/// rank is kPoor, each scattered() rank with a residual above a thirtieth of its offset is kPoor
/// too. O(n log n) in all ends.
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks);

/// Returns one line about a rank if its clock stays on the time base or its collective ends are
/// scattered(), else "". Example: "rank 3: its clock stays on the time base: ends of 40 collectives
/// scatter by 1175.0 us around those of rank 0, starts by 300.0 us".
[[nodiscard]] std::string clock_remark(const ClockOffset& clock);

} // namespace rankscope
