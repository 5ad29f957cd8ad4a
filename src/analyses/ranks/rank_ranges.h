// Ranges of ranks that share a finding: "ranks 24-31 (node 3)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// A rank and the amount by which it exceeds its peers.
struct FoundRank {
  std::int64_t rank = 0;
  double excess = 0;
};

/// Consecutive ranks whose excesses differ by less than a factor of two.
struct FoundRanks {
  std::int64_t first = 0, last = 0;
  double least = 0, most = 0;
  std::vector<std::size_t> members; ///< indices into the argument of in_ranges()

  [[nodiscard]] std::size_t size() const { return members.size(); }
};
/// Groups the ranks into ranges, largest excess first.
[[nodiscard]] std::vector<FoundRanks> in_ranges(const std::vector<FoundRank>& ranks);

/// Returns a name such as "rank 5" or "ranks 24-31". If `per_node` > 0 and the range is all ranks
/// of a node: "ranks 24-31 (node 3)".
[[nodiscard]] std::string range_name(const FoundRanks& range, std::int64_t per_node = 0);

} // namespace rankscope
