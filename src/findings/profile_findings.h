// Findings about a profiling run.
#pragma once

#include "core/finding.h"
#include "core/profile_fact.h"

#include <span>
#include <vector>

namespace rankscope {

[[nodiscard]] Finding profile_finding(const ProfileFact& fact);

/// Returns one finding per fact, in the order of the facts.
[[nodiscard]] std::vector<Finding> profile_findings(std::span<const ProfileFact> facts);

} // namespace rankscope
