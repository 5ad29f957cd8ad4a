// Results of a window (the traces that the ranks of a running job wrote of the same steps), small
// enough to store for as long as the job runs.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// One rank's part of a window.
struct WatchedRank {
  RankCollectives collectives;
  std::vector<std::int64_t> steps; ///< ProfilerStep numbers, ascending
  std::int64_t start_ns = 0;       ///< of the GPU's events, unix; 0 without them
  double step_ms = 0; ///< the mean between the first and the last step's begin; 0: unknown
};

/// How much later than the others a rank starts its collectives, us: a mean for each step.
struct WatchedLateness {
  std::int64_t rank = 0;
  std::vector<double> late_us;
  double per_step = 0; ///< compared collectives per step; of logs per second; 0: unknown
};

/// The bus bandwidths of the collectives of a group, name, type and size, GB/s: a mean for each
/// step; without steps each.
struct WatchedBandwidth {
  std::string what; ///< "all_reduce BFloat16 x 1024, group 0"
  std::vector<double> gbps;
};

/// Collectives of a group that some of its ranks entered and others did not.
struct WatchedGap {
  std::string group;
  std::string name;  ///< of the first
  std::string where; ///< "in step 17"
  std::int64_t collectives = 0;
  std::vector<std::int64_t> entered, absent; ///< of the first, ascending
};

struct WatchWindow {
  std::string label; ///< "steps 40-42"
  std::size_t ranks = 0;
  double step_ms = 0;                       ///< mean over the ranks; 0: unknown
  double exposed_percent = 0;               ///< of the time of collectives, over the ranks
  std::vector<WatchedLateness> lateness;    ///< ascending by rank
  std::vector<WatchedBandwidth> bandwidths; ///< ascending by `what`
  std::vector<WatchedGap> gaps;
};

/// One line of the summary: a window that was judged.
struct WatchedWindow {
  std::string label;
  std::size_t number = 0, ranks = 0, of = 0; ///< `of`: ranks that are known
  double step_ms = 0;
  std::optional<double> exposed_percent; ///< not available from logs
  double bus_gbps = 0;                   ///< mean over the kinds of collectives; 0 without any
  std::optional<std::int64_t> latest_rank;
  double late_us = 0; ///< of the latest rank, mean
};

/// `ranks` ascending by rank. Without collectives only the values of steps are set.
[[nodiscard]] WatchWindow watch_window(std::vector<WatchedRank> ranks, std::string label);

/// Its line. `number`: windows judged by then; `known`: number of ranks. Exposed time is left
/// blank.
[[nodiscard]] WatchedWindow summary_of(const WatchWindow& window, std::size_t number,
                                       std::size_t known);

} // namespace rankscope
