// The activities on the critical path of a run, as rows.
#pragma once

#include "analyses/job/counted_steps.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Time on the critical path by operator, summed over all ranks.
struct PathRow {
  std::string kind; ///< "kernel", "host", ..., "launch or gap", "unexplained"
  /// Operator, range or call. Host time outside of all of them: "before" and the operator that
  /// follows. "": unknown.
  std::string what;
  double ms = 0; ///< time per step
  double percent = 0;
};

/// The kind and name of a piece of a path.
struct PathLabel {
  std::string_view kind;
  std::string what; ///< as in PathRow
};
[[nodiscard]] PathLabel label_of_piece(const JobRun& run, const PathPiece& piece);

/// A part of the critical path: successive pieces of one rank, on the clock of its trace.
struct PathPart {
  std::int64_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::string kind, what; ///< of the longest piece, as in PathRow
};
/// Returns the critical path of the run in the order of time. Successive pieces of a rank are
/// joined until they are at least `least_ns` long.
[[nodiscard]] std::vector<PathPart> path_parts(const JobRun& run, std::int64_t least_ns = 0);

[[nodiscard]] std::vector<PathPiece> path_between(std::span<const PathPiece> path,
                                                  std::int64_t begin_ns,
                                                  std::int64_t end_ns = INT64_MAX);
/// Returns the rows of a path, most time first. `path`: the result of CountedSteps::part_of(). The
/// rows add up to the time of a step.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const std::vector<PathPiece>& path,
                                             const CountedSteps& clock);
/// Returns the rows for the counted steps of an edited run. Steps that were recorded one by one
/// have a separate path each.
[[nodiscard]] std::vector<PathRow> path_rows(const JobRun& run, const JobEdit& edit,
                                             const CountedSteps& clock);

} // namespace rankscope
