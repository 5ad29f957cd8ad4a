// Process groups with slower collectives than the other groups of their kind and size, which
// indicates a slow link between their members.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A group compared with the other groups that have the same kind of collective: the same name,
/// type, size, number of members and node span.
struct SlowGroup {
  const SyncSummary* row = nullptr;
  double bus_gbps = 0;    ///< mean of the group's collectives
  double usual_gbps = 0;  ///< median of the other groups
  std::size_t others = 0; ///< number of other groups
  /// Half width of the interval of the logarithm of `bus_gbps`: 95 % for all groups tested
  /// together.
  double log_half_width = 0;
  std::size_t steps = 0; ///< profiler steps that are samples of the test; 0: it has one sample per
                         ///< group

  [[nodiscard]] double percent_below() const { return (1 - bus_gbps / usual_gbps) * 100; }
};
/// Returns slow groups, largest difference first; each group once, with its worst kind of
/// collective. A slow group is at least ten percent below the median of the other groups, and
/// beyond their scatter (test_ranks()):
/// - with at least eight other groups, a sample is the mean of a group, so that the spread of the
///   groups shows their scatter;
/// - with two to seven other groups, a sample is the mean of a group in a profiler step. At least
///   three steps and collectives of 1 MiB are required, because the latency of smaller ones hides
///   the bandwidth. So few groups do not show their spread, so equal groups are assumed to differ
///   with a standard deviation of 4 %. Then about 15 % is the smallest difference that is reported.
/// Both tests have a level of 0.4 % over all groups (Holm).
[[nodiscard]] std::vector<SlowGroup> slow_groups(std::span<const SyncSummary> rows);

/// Returns the ranks that all of several slow groups contain, and that no other group of their
/// kinds contains; with `per_node` ranks per node, the nodes. Ascending; empty for a single slow
/// group.
[[nodiscard]] std::vector<std::int64_t> shared_members(std::span<const SlowGroup> slow,
                                                       std::span<const SyncSummary> rows,
                                                       std::int64_t per_node = 1);

/// Collectives of 1 MiB or more whose groups slow_groups() cannot compare with each other.
struct UntestedLinks {
  std::string name;            ///< name of the collectives
  std::int64_t group_size = 0; ///< number of members of each group
  enum class Reason : std::uint8_t {
    kFewGroups, ///< two groups: either may be the usual one
    kFewSteps,  ///< fewer than three profiler steps, and fewer than nine groups
  };
  Reason reason = Reason::kFewGroups;
};
/// Returns the untested collectives with at least two groups, in the order of `rows`; each name
/// and group size once.
[[nodiscard]] std::vector<UntestedLinks> untested_links(std::span<const SyncSummary> rows);

} // namespace rankscope
