// Selects the ranks that a page of many ranks shows individually.
#pragma once

#include "analyses/top/top_facts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// The ranks that the page shows individually, as indices into the list of all ranks. If there are
/// only a few ranks, all of them are shown. Otherwise it selects slow and late ranks, the ranks
/// with the highest and lowest value of each time, and others evenly.
class ShownRanks {
public:
  explicit ShownRanks(const TopFacts& top);
  [[nodiscard]] const std::vector<std::size_t>& ranks() const { return ranks_; }
  [[nodiscard]] bool all() const { return ranks_.size() == place_.size(); }
  /// Returns the index of a rank among the shown ranks; empty if it is not shown.
  [[nodiscard]] std::optional<std::uint32_t> place(std::size_t rank) const {
    return rank < place_.size() && place_[rank] != kNone ? std::optional(place_[rank])
                                                         : std::nullopt;
  }

  static constexpr std::size_t kMost = 256;

private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::size_t> ranks_;
  std::vector<std::uint32_t> place_;
};

} // namespace rankscope
