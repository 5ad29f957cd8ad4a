// Ranks that share a finding, as ranges: "ranks 24-31 (node 3)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// A rank with how far it exceeds its peers.
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
/// Largest excess first.
[[nodiscard]] std::vector<FoundRanks> in_ranges(const std::vector<FoundRank>& ranks);

/// "rank 5", "ranks 24-31"; with `per_node` > 0 and all ranks of a node "ranks 24-31 (node 3)".
[[nodiscard]] std::string range_name(const FoundRanks& range, std::int64_t per_node = 0);

} // namespace rankscope
