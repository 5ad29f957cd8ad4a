// Findings of a comparison of runs.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/finding.h"

#include <string>
#include <vector>

namespace rankscope {

struct ComparisonFindings {
  std::vector<Finding> notes;                ///< facts that make a comparison hard: read them first
  std::vector<std::vector<Finding>> metrics; ///< per test: key metrics
  std::vector<std::vector<Finding>> changes; ///< per test: step time and parts of its change

  [[nodiscard]] std::vector<Finding> all() const; ///< notes, then the findings of each test
};
/// Returns the findings of a comparison. Differences are test - baseline. With several tests each
/// subject begins with the test's label.
[[nodiscard]] ComparisonFindings comparison_findings(const Comparison& comparison);

/// Reports that two runs (or reports) look like different programs.
[[nodiscard]] Finding different_workload(const WorkloadOverlap& overlap, const std::string& base,
                                         const std::string& test);
/// Reports that means are over different numbers of ranks.
[[nodiscard]] Finding different_ranks(const ComparedRun& base, const ComparedRun& test);

} // namespace rankscope
