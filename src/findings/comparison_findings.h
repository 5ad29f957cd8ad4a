// What a comparison of runs shows.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/finding.h"

#include <string>
#include <vector>

namespace rankscope {

struct ComparisonFindings {
  std::vector<Finding> notes; ///< what makes the runs hard to compare: read them before any value
  std::vector<std::vector<Finding>> metrics; ///< by test: key metrics
  std::vector<std::vector<Finding>> changes; ///< by test: the step time and what its difference is

  [[nodiscard]] std::vector<Finding> all() const; ///< notes, then test by test
};
/// Differences are test - baseline. With several tests each subject begins with the test's label.
[[nodiscard]] ComparisonFindings comparison_findings(const Comparison& comparison);

/// That two runs (or reports) look like different programs.
[[nodiscard]] Finding different_workload(const WorkloadOverlap& overlap, const std::string& base,
                                         const std::string& test);
/// That means are over different numbers of ranks.
[[nodiscard]] Finding different_ranks(const ComparedRun& base, const ComparedRun& test);

} // namespace rankscope
