// What the critical path of a run consists of.
#pragma once

#include "analyses/job/counted_steps.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Time on the critical path by operator, of all ranks.
struct PathRow {
  std::string kind; ///< "kernel", "host", ..., "launch or gap", "unexplained"
  std::string what; ///< operator, range or call; "" = unknown
  double ms = 0;    ///< of a step
  double percent = 0;
};

/// What a piece of a path is.
struct PathLabel {
  std::string_view kind, what; ///< as in PathRow
};
[[nodiscard]] PathLabel label_of_piece(const JobRun& run, const PathPiece& piece);

[[nodiscard]] std::vector<PathPiece> path_between(std::span<const PathPiece> path,
                                                  std::int64_t begin_ns,
                                                  std::int64_t end_ns = INT64_MAX);
/// Of CountedSteps::part_of() a path, most time first; the rows add up to the time of a step.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const std::vector<PathPiece>& path,
                                             const CountedSteps& clock);
/// Of the counted steps of an edited run. Steps that were recorded one by one have a path each.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const JobEdit& edit,
                                             const CountedSteps& clock);

} // namespace rankscope
