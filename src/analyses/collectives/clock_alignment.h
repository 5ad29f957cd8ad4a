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

/// Ranks leave a collective within some microseconds. Clocks with a larger error are checked
/// further.
inline constexpr std::int64_t kLeaveTogetherNs = 20'000;

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
  kReference, ///< the rank with the clock that all other clocks are compared with
  kAligned,
  kPoor,  ///< the ends scatter too much to align the clock, so the file's time base is used
  kAlone, ///< the rank shares no collective with an aligned rank, so the file's time base is used
};

struct ClockOffset {
  std::int64_t rank = 0;
  /// This rank's clock minus the reference's clock. Its from_ns is in the middle of the shared
  /// collectives. It has a drift only if these collectives show one.
  ClockLine line;
  std::int64_t residual_ns = 0; ///< median distance of the collective ends from `line`
  std::int64_t effect_ns = 0;   ///< median distance of the collective starts from `line`: the
                                ///< lateness that analyses measure
  std::size_t samples = 0;      ///< collectives shared with `via`
  std::int64_t via = 0; ///< rank that this rank was compared with; for the reference, the rank
                        ///< itself
  ClockFit fit = ClockFit::kAlone;

  [[nodiscard]] bool aligned() const {
    return fit == ClockFit::kReference || fit == ClockFit::kAligned;
  }
  /// Returns the correction subtracted from this rank's times: zero unless aligned.
  [[nodiscard]] ClockLine used() const { return aligned() ? line : ClockLine{}; }
  /// Returns whether the ends scatter more than is usual within one run: with more than three
  /// samples, residual_ns is over 50 us and over half of effect_ns.
  [[nodiscard]] bool scattered() const;
};

/// Returns one entry per rank, in the order given. The first rank is the reference (offset 0). A
/// rank that shares no collective with the reference is compared with another aligned rank. The
/// offset is a median over the shared ends, so a few collectives that one rank leaves late do not
/// affect it. The line has a drift if the medians of the first and last third of the collectives
/// differ by more than four standard errors and the drift halves the residual. A fit is kPoor if
/// its residual is above 20 us, half of the effect and a third of the offset. If a rank is kPoor,
/// each scattered() rank with a residual above a thirtieth of its offset is kPoor too. O(n log n)
/// in all ends.
[[nodiscard]] std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks);

/// Returns one line about a rank if its clock is not aligned or its collective ends are
/// scattered(), else "". Example: "rank 3: its clock is not aligned: the ends of 40 collectives
/// scatter by 1175.0 us around those of rank 0, the starts by 300.0 us".
[[nodiscard]] std::string clock_note(const ClockOffset& clock);

} // namespace rankscope
