// Results of a window (the traces that the ranks of a running job wrote for the same steps). They
// are small enough to store for the duration of the job.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The data of one rank in a window.
struct WatchedRank {
  RankCollectives collectives;
  std::vector<std::int64_t> steps; ///< ProfilerStep numbers, ascending
  std::int64_t start_ns = 0;       ///< start of the GPU events, unix time; 0 without GPU events
  double step_ms = 0; ///< mean time between the starts of the first and the last step; 0: unknown
};

/// Lateness of a rank at its collectives, us: a mean for each step.
struct WatchedLateness {
  std::int64_t rank = 0;
  std::vector<double> late_us;
  /// Time that the other members of its collectives wait for this rank; empty if unknown. From
  /// traces with steps: exposed time, ms per step. From logs, which do not show the work that hides
  /// a collective: the upper bound of this time, ms per second.
  std::optional<double> waits_ms = std::nullopt;
};

/// Bus bandwidths of the collectives with the same group, name, type and size, GB/s: a mean for
/// each step; without steps one value for each collective.
struct WatchedBandwidth {
  std::string what; ///< "all_reduce BFloat16 x 1024, group 0"
  std::vector<double> gbps;
};

/// Collectives of a group that some of its ranks entered and others did not.
struct WatchedGap {
  std::string group;
  std::string name;  ///< name of the first such collective
  std::string where; ///< "in step 17"
  std::int64_t collectives = 0;
  std::vector<std::int64_t> entered, absent; ///< ranks for the first such collective, ascending
};

struct WatchWindow {
  std::string label; ///< "steps 40-42"
  std::size_t ranks = 0;
  double step_ms = 0;                    ///< mean over the ranks; 0: unknown
  std::optional<double> exposed_percent; ///< exposed percentage of the collectives' time, over the
                                         ///< ranks; empty without collectives
  double bus_gbps = 0; ///< mean over the collectives, weighted by transfer time; 0: unknown
  std::vector<WatchedLateness> lateness;    ///< ascending by rank
  std::vector<WatchedBandwidth> bandwidths; ///< ascending by `what`
  std::vector<WatchedGap> gaps;
};

/// One line of the summary: a judged window.
struct WatchedWindow {
  std::string label;
  std::size_t number = 0, ranks = 0, known_ranks = 0;
  double step_ms = 0;
  std::optional<double> exposed_percent; ///< empty for windows from logs
  double bus_gbps = 0;                   ///< WatchWindow::bus_gbps
  std::optional<std::int64_t> latest_rank;
  double late_us = 0; ///< mean lateness of latest_rank
};

/// Returns the results of a window. `ranks` must be ascending by rank. Without collectives, only
/// the step values are set.
[[nodiscard]] WatchWindow watch_window(std::vector<WatchedRank> ranks, std::string label);

/// Returns the summary line of a window. `number`: windows judged at that time; `known`: number of
/// known ranks. Exposed time is left blank.
[[nodiscard]] WatchedWindow summary_of(const WatchWindow& window, std::size_t number,
                                       std::size_t known);

} // namespace rankscope
