// Chooses the ranks that a page of many ranks shows one by one.
#pragma once

#include "analyses/top/top_facts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// The ranks that the page shows one by one, as indices into the list of all. Few ranks are all
/// shown. Of many it shows slow and late ones, those with the highest and the lowest of each time,
/// and an even choice of the others.
class ShownRanks {
public:
  explicit ShownRanks(const TopFacts& top);
  [[nodiscard]] const std::vector<std::size_t>& ranks() const { return ranks_; }
  [[nodiscard]] bool all() const { return ranks_.size() == place_.size(); }
  /// Returns the index among the shown ranks; empty for a rank that is not shown.
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
