// The data of a comparison page: verdicts with their noise, and the components of the difference.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "findings/comparison_findings.h"

#include <string>
#include <vector>

namespace rankscope {

struct ComparisonPageInput {
  const Comparison* comparison = nullptr;
  const ComparisonFindings* findings = nullptr;
  std::vector<std::string> folders; ///< first the baseline, then the tests
  std::string command;
};

/// Returns the data as a blob (pages/data/page_blob.h).
[[nodiscard]] std::string comparison_page_data(const ComparisonPageInput& input);

} // namespace rankscope
