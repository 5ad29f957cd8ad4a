// Comparison of an activity with the activities of the other ranks at the same place of the step.
#pragma once

#include "analyses/job/contention.h"
#include "analyses/job/places.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

struct PeerComparison {
  enum class Kind : std::uint8_t {
    kSame,         ///< most peers have the activity; a kernel may have another name there
    kLargerInputs, ///< most peers run the operator at this place with other shapes
    kExtra,        ///< a kernel or copy that most peers do not run
    kUnknown,      ///< host activity without a counterpart
  } kind = Kind::kUnknown;
  /// Median duration of the peers. For a GEMM: without contention, plus the contention of the
  /// compared GEMM. So the times of ranks with different overlap are comparable. For the host: of
  /// the complete stretch between two calls of every rank; its later activities have 0.
  std::int64_t peers_ns = 0;
  std::int64_t contention_ns = 0; ///< contention of the compared activity
};

/// A rank and three peers. With fewer ranks, differences between ranks are not explained.
inline constexpr std::size_t kFewestRanks = 4;

class PeerPlaces {
public:
  /// `outstanding`: positions of ranks that do not count as peers, because they are slow or late
  /// themselves. They count if fewer than three other ranks remain.
  /// `contention`: nullptr: durations are compared as recorded.
  PeerPlaces(const JobRun& run, std::span<const std::uint32_t> outstanding,
             const Contention* contention = nullptr);
  [[nodiscard]] bool is_peer(std::uint32_t rank) const { return peer_[rank]; }
  /// Returns the comparison. `n`: an activity that is not a collective.
  [[nodiscard]] PeerComparison compare(NodeId n) const;
  /// Returns whether an outstanding rank runs the operator at the place of this kernel with other
  /// shapes than most of its peers. `n`: a kernel of any rank. `k`: position in `outstanding`.
  [[nodiscard]] bool inputs_differ(NodeId n, std::size_t k) const {
    return inputs_differ_[k][operators_.place[n]];
  }

private:
  void compare_inputs(std::span<const std::uint32_t> outstanding);

  const JobRun& run_;
  const Contention* contention_;
  std::vector<bool> peer_; ///< by rank
  std::size_t peers_ = 0;  ///< number of peers
  RunPlaces places_, operators_;
  PlaceNodes at_place_, at_operator_;
  std::vector<std::vector<bool>> inputs_differ_; ///< by outstanding rank and place of `operators_`
};

} // namespace rankscope
