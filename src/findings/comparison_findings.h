// Findings of a comparison of runs.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/finding.h"

#include <string>
#include <vector>

namespace rankscope {

struct ComparisonFindings {
  std::vector<Finding> notes;                ///< facts that make the comparison unreliable; show
                                             ///< them first
  std::vector<std::vector<Finding>> metrics; ///< for each test: its key metrics
  std::vector<std::vector<Finding>> changes; ///< for each test: its step time and the parts of its
                                             ///< change

  [[nodiscard]] std::vector<Finding> all() const; ///< notes, then the findings of each test
};
/// Returns the findings of a comparison. Differences are test - baseline. If there are several
/// tests, each subject begins with the label of the test.
[[nodiscard]] ComparisonFindings comparison_findings(const Comparison& comparison);

/// Reports that two runs (or reports) are probably of different programs.
[[nodiscard]] Finding different_workload(const WorkloadOverlap& overlap, const std::string& base,
                                         const std::string& test);
/// Reports that operators of two runs differ in shapes or launches, `per_step` or in complete
/// traces.
[[nodiscard]] Finding different_work(const WorkDifference& work, const std::string& base,
                                     const std::string& test, bool per_step);
/// Returns why no condition can be judged for test `i`; "" if the runs have the same ranks and do
/// the same work.
[[nodiscard]] std::string why_not_judged(const Comparison& comparison, std::size_t i);
/// Reports that ranks lost events, or that the means are computed over different ranks.
[[nodiscard]] Finding different_ranks(const ComparedRun& base, const ComparedRun& test);

} // namespace rankscope
