// RankSet: a set of ranks, stored as arithmetic sequences ("runs"). A group of thousands of ranks
// usually is one or a few runs (all ranks, one rank per node), and every trace lists its groups.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace rankscope {

/// Ranks are ascending and unique. Equal sets have equal runs.
class RankSet {
public:
  RankSet() = default;
  /// Accepts ranks in any order. Negative numbers are ignored.
  explicit RankSet(std::vector<std::int64_t> ranks);

  [[nodiscard]] bool contains(std::int64_t rank) const; ///< O(log runs)
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Returns the first `most` ranks in ascending order.
  [[nodiscard]] std::vector<std::int64_t> ranks(std::uint64_t most = UINT64_MAX) const;

  friend bool operator==(const RankSet& a, const RankSet& b) = default;
  friend auto operator<=>(const RankSet&,
                          const RankSet&) = default; // NOLINT(modernize-use-nullptr)

private:
  /// The ranks first, first + stride, ..., last. Runs are in ascending order.
  struct Run {
    std::int64_t first = 0, last = 0, stride = 1;
    friend auto operator<=>(const Run& a, const Run& b) = default; // NOLINT(modernize-use-nullptr)

    template <class Archive, class Row>
    requires std::same_as<std::remove_const_t<Row>, Run>
    friend void part_fields(Archive& archive, Row& r) { archive(r.first, r.last, r.stride); }
  };

  /// Reads or writes the runs. Runs that this class would not make are rejected.
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, RankSet>
  friend void part_fields(Archive& archive, Row& set) {
    archive(set.runs_);
    if constexpr (Archive::kReads)
      if (!set.sound())
        archive.fail("not a set of ranks");
  }
  [[nodiscard]] bool sound() const;

  std::vector<Run> runs_;
};

} // namespace rankscope
