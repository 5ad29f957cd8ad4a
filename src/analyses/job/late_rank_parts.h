// The reasons why a rank arrives at collectives later than the other members. Compares the
// activities of the ranks in each stretch from the end of a collective to the arrival at the next
// one. Members leave a collective together, so the lengths of stretches need no common clock.
#pragma once

#include "analyses/job/peer_places.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope {

enum class StretchPart : std::uint8_t {
  kKernels,      ///< kernels that the peers run too
  kOtherInputs,  ///< kernels of operators with other shapes on most peers
  kExtraKernels, ///< kernels that the peers do not run
  kCopies,       ///< copies and fills
  kHost,         ///< host activities and calls
  kLaunch,       ///< the usual time from a launch to its work and between works
  kOtherGroups,  ///< other collectives and ranks
  kUnexplained,  ///< delays that the graph does not explain
};
inline constexpr std::size_t kStretchParts = 8;
/// Returns "kernels", "differing inputs", "extra kernels", ... These names are stable.
[[nodiscard]] std::string_view stretch_part_name(StretchPart part);

/// Times in ms per step, as means over the steps.
struct PartExcess {
  double rank_ms = 0, peers_ms = 0; ///< peers_ms: sum of the peers' medians
  double excess_ms = 0;
  std::optional<double> low_ms, high_ms; ///< 95 % interval over the steps
};
struct LateRankParts {
  std::int64_t rank = 0;
  PartExcess all; ///< excess of the complete stretches
  std::array<PartExcess, kStretchParts> parts;

  /// Returns the excess minus the sum of the parts. It is not 0, because medians do not add up.
  [[nodiscard]] double remainder_ms() const;
};

/// Returns the parts for these ranks. `ranks`: the outstanding ranks of `peers`. Collectives with
/// fewer than kFewestRanks members are left out. A stretch begins at the end of the last collective
/// before it that has the same members, and maybe others. Its parts are the critical path back from
/// the arrival to this begin, so hidden work has no part. If a rank belongs to several sets of
/// members, the parts are those before the collectives of one set, where the rank is latest. The
/// medians are over peers only, if enough ranks are peers. O(n) for the members of these ranks'
/// collectives, and O(n) per rank for the kernels.
[[nodiscard]] std::vector<LateRankParts> late_rank_parts(const JobRun& run,
                                                         const CountedSteps& clock,
                                                         const PeerPlaces& peers,
                                                         std::span<const std::uint32_t> ranks);

} // namespace rankscope
