// An activity of a rank compared with those of the other ranks at the same place of the step.
#pragma once

#include "analyses/job/places.h"

#include <cstdint>
#include <vector>

namespace rankscope {

struct BesidePeers {
  enum class Kind : std::uint8_t {
    kSame,         ///< most peers have it; a kernel may have another name there
    kLargerInputs, ///< most peers run the operator there with other shapes
    kExtra,        ///< a kernel that most peers do not run
    kUnknown,      ///< host activity without a counterpart
  } kind = Kind::kUnknown;
  std::int64_t peers_ns = 0; ///< their median duration
};

class PeerPlaces {
public:
  explicit PeerPlaces(const JobRun& run);
  /// `n`: an activity, no collective.
  [[nodiscard]] BesidePeers of(NodeId n) const;
  /// Whether the operator at the place of this kernel has other shapes on some ranks.
  [[nodiscard]] bool inputs_differ(NodeId n) const { return inputs_differ_[operators_.of[n]]; }

private:
  const JobRun& run_;
  RunPlaces places_, operators_;
  PlaceNodes at_place_, at_operator_;
  std::vector<bool> inputs_differ_; ///< by place of `operators_`
};

} // namespace rankscope
