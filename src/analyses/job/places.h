// Places: they identify the same activity on other ranks and in other steps.
#pragma once

#include "analyses/job/counted_steps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rankscope {

inline constexpr std::uint32_t kNoPlace = 0xffffffffU;

/// The place of each activity: its names and shapes, and its index among equal activities of its
/// step. Example: "the third aten::mm of these shapes inside layer 2". A host activity has the
/// place of the call before it, because its own name depends on how long each of its ranges takes.
/// That call is always an activity. Other calls are activities only if they last long, so on a slow
/// host they divide a stretch of the host that is one activity on its peers. The n-th activity of
/// all such stretches has one place.
struct RunPlaces {
  std::vector<std::uint32_t> place; ///< place by node; kNoPlace: the node is not an activity
  std::size_t count = 0;
  /// Of divided stretches of the host: the first node of each later one, and the time of all nodes
  /// by first node.
  std::unordered_map<NodeId, NodeId> first_of;
  std::unordered_map<NodeId, std::int64_t> stretch_ns;

  /// Returns the node whose place has the peers' times for this node.
  [[nodiscard]] NodeId first(NodeId n) const {
    const auto at = first_of.find(n);
    return at == first_of.end() ? n : at->second;
  }
  /// Returns the time of the activity, or of the complete stretch that begins with this node.
  [[nodiscard]] std::int64_t time_ns(const JobGraph& graph, NodeId n) const {
    const auto at = stretch_ns.find(n);
    return at == stretch_ns.end() ? graph.dur_ns(n) : at->second;
  }
};

enum class PlaceIn : std::uint8_t {
  kEachStep, ///< each step has separate places
  kAnyStep,  ///< all steps have the same places
};
[[nodiscard]] RunPlaces places_of(const JobRun& run, PlaceIn in);
/// Returns places by operator only, in each step: kernels with other names and shapes may have the
/// same place.
[[nodiscard]] RunPlaces places_by_operator(const JobRun& run);
/// Returns places by kind and name. All such activities have one place, in any step.
[[nodiscard]] RunPlaces places_by_name(const JobRun& run);

/// The nodes of each place, ascending. Each place has at least one node.
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

/// Returns how well the graph predicts. Each counted step is replayed with the durations and delays
/// of the same places in the step before. The result is the mean relative difference to the
/// measured times, in percent. Empty with fewer than two counted steps, or if the step before one
/// of them lacks 5 % of its activities' time. `places`: in any step.
[[nodiscard]] std::optional<double>
prediction_error_percent(const JobRun& run, const CountedSteps& clock, const PlaceNodes& places);

} // namespace rankscope
