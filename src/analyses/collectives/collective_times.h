// Collectives with the times of their members on the common clock.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Conversion of file times to the common clock, by position in the list of ranks.
struct Clocks {
  std::vector<std::int64_t> base_ns;  ///< by position: added to file times
  std::vector<ClockOffset> alignment; ///< by position; empty if no clock was aligned
  std::vector<std::int64_t> unix_ns;  ///< by position: added to file times to evaluate `alignment`

  [[nodiscard]] std::int64_t common(std::size_t rank, std::int64_t ts_ns) const {
    const std::int64_t shift =
        alignment.empty() ? 0 : alignment[rank].used().at(ts_ns + unix_ns[rank]);
    return ts_ns + base_ns[rank] - shift;
  }
};
[[nodiscard]] Clocks clocks_of(std::span<const RankCollectives> ranks,
                               const std::vector<ClockOffset>& offsets, AlignMode align);

/// Returns the id "GROUP_INDEX" or "GROUP~2_INDEX"; in compat mode without groups, the index.
[[nodiscard]] std::string collective_id(const MatchedCollective& match, const Collective& member,
                                        bool compat_tracelens);

/// Returns the collective with its times; refers to the ranks. O(number of members).
[[nodiscard]] TimedCollective timed_collective(const std::vector<RankCollectives>& ranks,
                                               MatchedCollective match, const Clocks& clocks,
                                               bool compat_tracelens);

} // namespace rankscope
