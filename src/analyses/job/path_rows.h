// What the critical path of a run consists of.
#pragma once

#include "analyses/job/job_run.h"

#include <string>
#include <vector>

namespace rankscope {

/// Time on the critical path by operator, of all ranks.
struct PathRow {
  std::string kind; ///< "kernel", "host", ..., "launch or gap", "unexplained"
  std::string what; ///< operator, range or call; "" = unknown
  double ms = 0;    ///< of a step
  double percent = 0;
};

/// Of the part of a path after `begin_ns`, most time first; the rows add up to the time of a step.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const std::vector<PathPiece>& path,
                                             std::int64_t begin_ns, const CountedSteps& clock);
/// Of the counted steps of an edited run. Steps that were recorded one by one have a path each.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const JobEdit& edit,
                                             const CountedSteps& clock);

} // namespace rankscope
