// Clock offsets between ranks from the ends of collectives: all members leave a collective within
// microseconds of each other. Each fit is judged before it is used.
#pragma once

#include "analyses/collectives/collective_match.h"
#include "core/clock_line.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A collective as one rank saw it, in unix ns.
struct SharedEnd {
  std::size_t id = 0; ///< of the collective, the same on all ranks
  std::int64_t start_ns = 0, end_ns = 0;
};

/// The collectives of one rank that can align its clock, ascending by id.
struct CollectiveEnds {
  std::int64_t rank = 0;
  std::vector<SharedEnd> ends;
};

/// Returns per rank the matched collectives that no member leaves early (synchronises()) and that
/// have two members at least: no send or receive, no unknown kind.
[[nodiscard]] std::vector<CollectiveEnds>
collective_ends(std::span<const RankCollectives> ranks, std::span<const MatchedCollective> matched);

/// The result of aligning a rank's clock.
enum class ClockFit : std::uint8_t {
  kReference, ///< the others are measured against it
  kAligned,
  kPoor,  ///< the ends scatter too much to align the clock: it stays on the time base
  kAlone, ///< shares no collective with an aligned rank: it stays on the time base
};

struct ClockOffset {
  std::int64_t rank = 0;
  ClockLine line;               ///< how far this rank's clock is ahead of the reference, from the
                                ///< middle of the shared collectives; drift only if they show it
  std::int64_t residual_ns = 0; ///< median distance of the collective ends from that
  std::int64_t effect_ns = 0;   ///< median distance of their starts: what is to be measured
  std::size_t samples = 0;      ///< collectives shared with `via`
  std::int64_t via = 0;         ///< the rank it was compared with; itself for the reference
  ClockFit fit = ClockFit::kAlone;

  [[nodiscard]] bool aligned() const {
    return fit == ClockFit::kReference || fit == ClockFit::kAligned;
  }
  /// Returns the correction subtracted from this rank's times: zero unless aligned.
  [[nodiscard]] ClockLine used() const { return aligned() ? line : ClockLine{}; }
  /// Returns whether the ends scatter more than within one run: by over 50 us and half the effect.
  [[nodiscard]] bool scattered() const;
};

/// Returns one entry per rank, in the order given. The first rank is the reference (offset 0); a
/// rank that shares no collective with it is compared with one that does. The offset is a median
/// over the shared ends, so that single late leavers do not count. It has a drift where the outer
/// thirds of the window differ by more than four standard errors of their medians. A fit with a
/// residual above 20 us, half of the effect and a third of the offset is kPoor. If one rank is
/// kPoor, so are those scattered() by over a thirtieth of their offset. O(n log n) in all ends.
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks);

/// Returns one line about a rank whose clock stays on the time base or whose collective ends are
/// scattered(), else "". Example: "rank 3: its clock stays on the time base: ends of 40 collectives
/// scatter by 1175.0 us around those of rank 0, starts by 300.0 us".
[[nodiscard]] std::string clock_remark(const ClockOffset& clock);

} // namespace rankscope
