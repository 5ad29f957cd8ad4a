// RankSet: ranks stored as runs of equal distance. Groups of thousands of ranks are one or a few
// runs (all ranks, one rank per node), and every trace lists its groups.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace rankscope {

/// Ascending and without duplicates. Equal sets have equal runs.
class RankSet {
public:
  RankSet() = default;
  /// Accepts numbers in any order; negative numbers are ignored.
  explicit RankSet(std::vector<std::int64_t> ranks);

  [[nodiscard]] bool contains(std::int64_t rank) const; ///< O(log runs)
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Returns the first `most` ranks, ascending.
  [[nodiscard]] std::vector<std::int64_t> ranks(std::uint64_t most = UINT64_MAX) const;

  friend bool operator==(const RankSet& a, const RankSet& b) = default;
  friend auto operator<=>(const RankSet&,
                          const RankSet&) = default; // NOLINT(modernize-use-nullptr)

private:
  /// The ranks first, first + stride, ... last. Runs are ascending and do not overlap.
  struct Run {
    std::int64_t first = 0, last = 0, stride = 1;
    friend auto operator<=>(const Run& a, const Run& b) = default; // NOLINT(modernize-use-nullptr)

    template <class Archive, class Row>
    requires std::same_as<std::remove_const_t<Row>, Run>
    friend void part_fields(Archive& archive, Row& r) { archive(r.first, r.last, r.stride); }
  };

  /// Reads or writes the runs; runs that this class cannot produce are rejected.
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
