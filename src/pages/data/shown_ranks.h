// Which ranks a page of many shows one by one.
#pragma once

#include "analyses/top/top_facts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// The ranks that the page shows one by one, as places in the list of all: every one of a few; of
/// many the slow and the late ones, those with the most and the least of each time, and others
/// evenly.
class ShownRanks {
public:
  explicit ShownRanks(const TopFacts& top);
  [[nodiscard]] const std::vector<std::size_t>& ranks() const { return ranks_; }
  [[nodiscard]] bool all() const { return ranks_.size() == place_.size(); }
  /// Among those that are shown; none of a rank that is not.
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
