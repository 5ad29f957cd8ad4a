// Why a rank comes later to collectives than the other members: its activities between the end of
// one and its arrival at the next, against theirs. Members leave a collective together, so the
// lengths of these stretches need no common clock.
#pragma once

#include "analyses/job/peer_places.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope {

/// A rank and three peers: with fewer no difference between ranks is explained.
inline constexpr std::size_t kFewestRanks = 4;

enum class StretchPart : std::uint8_t {
  kKernels,      ///< kernels that its peers run too
  kOtherInputs,  ///< kernels of operators whose shapes differ among the ranks
  kExtraKernels, ///< kernels that its peers do not run
  kCopies,       ///< copies and fills
  kHost,         ///< host activities and calls
  kLaunch,       ///< the usual time from launches and between works
  kOtherGroups,  ///< other collectives and ranks
  kUnexplained,  ///< delays without a reason in the graph
};
inline constexpr std::size_t kStretchParts = 8;
/// "kernels", "differing inputs", ...: stable.
[[nodiscard]] std::string_view stretch_part_name(StretchPart part);

/// In ms of a step, means over the steps.
struct PartExcess {
  double own_ms = 0, peers_ms = 0; ///< peers: sum of their medians
  double excess_ms = 0;
  std::optional<double> low_ms, high_ms; ///< 95 % interval over the steps
};
struct LateRankParts {
  std::int64_t rank = 0;
  PartExcess all; ///< of the stretches as a whole
  std::array<PartExcess, kStretchParts> parts;

  /// What the parts do not add up to: medians do not add.
  [[nodiscard]] double remainder_ms() const;
};

/// `ranks`: positions in the run. Collectives with fewer than kFewestRanks members are left out.
/// The parts of a stretch are the path from the arrival at its collective back to its begin, so
/// that work that other work hides has no part. O(n) for the members of these ranks' collectives.
[[nodiscard]] std::vector<LateRankParts> late_rank_parts(const JobRun& run,
                                                         const CountedSteps& clock,
                                                         const PeerPlaces& peers,
                                                         std::span<const std::uint32_t> ranks);

} // namespace rankscope
