// The predicted time of a run with changed durations: stragglers at their usual durations, or the
// changes that a user requests.
#pragma once

#include "analyses/job/run_edit.h"
#include "analyses/job/stragglers.h"
#include "core/report.h"
#include "core/schema.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct WhatIfFacts {
  std::string title; ///< name of the run, as given by the user
  std::size_t ranks = 0;
  std::size_t steps = 0;              ///< number of counted steps; 0: the trace has no steps
  std::vector<BoundaryStep> boundary; ///< steps that are left out
  double step_ms = 0;                 ///< mean time of a step
  double unexplained_percent = 0;     ///< share of delays and inferred waits in the critical path
  /// Percentage by which a step is shorter in the replay without delays.
  double without_delays_percent = 0;
  bool pipeline = false;                    ///< the run is a timeline of operations without kernels
  std::optional<StragglerFacts> stragglers; ///< empty if the user requested changes
  std::vector<EditAnswer> answers;

  /// Returns the share of unexplained time. In a pipeline, late operations are seldom alone, so one
  /// unexplained delay has little meaning.
  [[nodiscard]] double doubt_percent() const {
    return pipeline ? without_delays_percent : unexplained_percent;
  }
};

struct WhatIf {
  WhatIfFacts facts;
  JobEdit edit; ///< edit of the last answer, or of the ideal run
};

/// Returns the answers to `changes`, or the straggler analysis without changes. `grid`: the grid of
/// a pipeline-parallel job, or nullptr. `steps`: only these steps count. Errors: those of
/// edit_answers().
[[nodiscard]] Result<WhatIf> whatif_of(const JobRun& run, const WorkerGrid* grid,
                                       const std::vector<RunEdit>& changes,
                                       std::optional<StepPositions> steps = std::nullopt);

/// Returns the tables whatif_run; straggler_steps, stragglers, stragglers_by_step and
/// straggler_effects; changes and changed_paths.
[[nodiscard]] std::vector<Table> whatif_tables(const WhatIfFacts& facts);
[[nodiscard]] std::vector<SheetInfo> whatif_sheets();

} // namespace rankscope
