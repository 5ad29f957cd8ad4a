// Clock offsets between ranks from the ends of collectives: all members leave a collective within
// microseconds, whatever their clocks say. The fit is judged before anybody uses it.
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

/// The collectives of one rank by which its clock can be told, ascending by id.
struct CollectiveEnds {
  std::int64_t rank = 0;
  std::vector<SharedEnd> ends;
};

/// Per rank, the matched collectives that hold all members until the end (synchronises()) and have
/// two members at least: no send or receive, nothing of unknown kind.
[[nodiscard]] std::vector<CollectiveEnds>
collective_ends(std::span<const RankCollectives> ranks, std::span<const MatchedCollective> matched);

/// What became of a rank's clock.
enum class ClockFit : std::uint8_t {
  kReference, ///< the others are measured against it
  kAligned,
  kPoor,  ///< ends scatter more than what they would tell: it stays on the time base
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
  /// What is taken out of this rank's times: the line, or nothing unless aligned.
  [[nodiscard]] ClockLine used() const { return aligned() ? line : ClockLine{}; }
  /// The ends scatter as those of one run do not: by more than 50 us and half of the effect.
  [[nodiscard]] bool scattered() const;
};

/// One entry per rank, in the order given. The first rank is the reference (offset 0); a rank that
/// shares no collective with it is compared with one that does. Median over the shared ends, so
/// that single late leavers do not count; with a drift where the thirds of the window differ by
/// more than four standard errors of their medians. A fit whose residual is above 20 us, above half
/// of the effect and above a third of the offset is kPoor. If one rank is kPoor, so are those that
/// are scattered() by more than a thirtieth of their offset. O(n log n) in all ends.
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks);

/// One line about a rank whose clock stays on the time base, or whose collectives do not end with
/// the others'; "" for the others. Example: "rank 3: its clock stays on the time base: ends of 40
/// collectives scatter by 1175.0 us around those of rank 0, starts by 300.0 us".
[[nodiscard]] std::string clock_remark(const ClockOffset& clock);

} // namespace rankscope
