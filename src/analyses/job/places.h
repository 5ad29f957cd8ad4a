// Which activities of a run are the same one on other ranks and in other steps.
#pragma once

#include "analyses/job/counted_steps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

inline constexpr std::uint32_t kNoPlace = 0xffffffffU;

/// A place is an activity by its names and shapes, and which of its kind it is in its step: "the
/// third aten::mm of these shapes inside layer 2".
struct RunPlaces {
  std::vector<std::uint32_t> of; ///< by node; kNoPlace: not an activity
  std::size_t count = 0;
};

enum class PlaceIn : std::uint8_t {
  kEachStep, ///< each step has separate places
  kAnyStep,  ///< the same one in every step
};
[[nodiscard]] RunPlaces places_of(const JobRun& run, PlaceIn in);
/// The same by operator alone: kernels of other names and shapes may be at one place. In each step.
[[nodiscard]] RunPlaces places_by_operator(const JobRun& run);
/// All activities of a kind and name, whichever of a step.
[[nodiscard]] RunPlaces places_by_name(const JobRun& run);

/// The nodes of each place, ascending; at least one each.
class PlaceNodes {
public:
  explicit PlaceNodes(const RunPlaces& places);
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(first_.size() - 1);
  }
  [[nodiscard]] std::span<const NodeId> at(std::uint32_t place) const {
    return {nodes_.data() + first_[place], nodes_.data() + first_[place + 1]};
  }

private:
  std::vector<std::uint32_t> first_;
  std::vector<NodeId> nodes_;
};

/// How well the graph predicts: each counted step is replayed with the durations and delays of the
/// same places in the step before; mean difference to the measured times, in percent. Empty with
/// fewer than two counted steps.
[[nodiscard]] std::optional<double> prediction_error_percent(const JobRun& run,
                                                             const CountedSteps& clock);

} // namespace rankscope
