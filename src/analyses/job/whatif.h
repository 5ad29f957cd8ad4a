// What a run would take if some of its activities took another time: stragglers, or the changes
// that a user asks for.
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
  std::string title; ///< the run, as the user named it
  std::size_t ranks = 0;
  std::size_t steps = 0;                    ///< counted ones; 0: the trace has no steps
  std::vector<BoundaryStep> boundary;       ///< steps that are left out
  double step_ms = 0;                       ///< mean time of a step
  double unexplained_percent = 0;           ///< of the critical path: delays and inferred waits
  double without_delays_percent = 0;        ///< by which the replay without delays is shorter
  bool pipeline = false;                    ///< a timeline of operations, without kernels
  std::optional<StragglerFacts> stragglers; ///< where no changes were asked for
  std::vector<EditAnswer> answers;
};

struct WhatIf {
  WhatIfFacts facts;
  JobEdit edit; ///< of the last answer, or of the ideal run
};

/// `grid`: of a pipeline-parallel job, or nullptr. `steps`: the only ones that count. Errors: those
/// of edit_answers().
[[nodiscard]] Result<WhatIf> whatif_of(const JobRun& run, const WorkerGrid* grid,
                                       const std::vector<RunEdit>& changes,
                                       std::optional<StepPositions> steps = std::nullopt);

/// whatif_run; straggler_steps, stragglers, stragglers_by_step and straggler_effects; changes and
/// changed_paths.
[[nodiscard]] std::vector<Table> whatif_tables(const WhatIfFacts& facts);
[[nodiscard]] std::vector<SheetInfo> whatif_sheets();

} // namespace rankscope
