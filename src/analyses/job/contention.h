// Contention: GEMMs take longer while a collective runs on their GPU, also while it only waits for
// its members. So a change of one rank also changes the GEMMs of the ranks that wait for it.
#pragma once

#include "analyses/job/counted_steps.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rankscope {

/// A GEMM that takes w without overlap takes t = w + slope * overlap, where overlap is the time in
/// which collectives run on its GPU. While a collective runs, the GEMM is slower by
/// slope / (1 - slope). The slope is estimated at equal places of a rank. Places and steps have
/// fixed effects. The overlap grows with t, so the overlap of the mean time is its instrument
/// (two-stage least squares). Errors are clustered by rank and step.
class Contention {
public:
  /// `nodes`: by rank, its nodes in the graph, ascending.
  Contention(const JobRun& run, const CountedSteps& clock,
             std::span<const std::vector<NodeId>> nodes);

  /// Returns whether overlap makes GEMMs longer: the 99 % interval of the slope is above 1 %.
  [[nodiscard]] bool found() const { return slope_ > 0; }
  [[nodiscard]] double slope() const { return slope_; }
  [[nodiscard]] double half_width() const { return half_width_; } ///< of the 99 % interval
  /// Returns the time that contention adds to the activity as recorded; 0 if found() is false.
  [[nodiscard]] std::int64_t added_ns(NodeId n) const;
  /// Changes the durations of the edit, so that each GEMM has the overlap of the replay instead of
  /// the recorded one. One replay if the overlap stays as it is, else about ten: each moves the
  /// durations half the way, because a rank that waits less has faster GEMMs and then waits more.
  void settle(JobEdit& edit) const;

  /// A GEMM and the time in which collectives run.
  struct Overlapped {
    NodeId node = kNoNode;
    std::int64_t overlap_ns = 0;
  };
  /// Returns the GEMMs by rank, ascending.
  [[nodiscard]] std::span<const std::vector<Overlapped>> gemms() const { return gemms_; }

private:
  void find_nodes(std::uint32_t rank, const std::vector<NodeId>& nodes);
  [[nodiscard]] std::int64_t added_ns(const Overlapped& gemm) const;

  const JobRun& run_;
  double slope_ = 0, half_width_ = 0;
  std::vector<std::vector<Overlapped>> gemms_; ///< by rank
  /// By rank, the collectives: the nodes of its begin and of its end.
  std::vector<std::vector<std::pair<NodeId, NodeId>>> collectives_;
};

} // namespace rankscope
