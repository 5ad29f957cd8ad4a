// Converts findings to JSON and text for the files and outputs of runs.
#pragma once

#include "collect/profile/json_value.h"
#include "core/finding.h"

#include <span>
#include <string>

namespace rankscope {

/// Returns a list of objects with the fields of finding_schema() that have a value.
[[nodiscard]] Json findings_json(std::span<const Finding> findings);

/// Returns "rule: headline\n    evidence\n    next: action\n" for each finding.
[[nodiscard]] std::string findings_text(std::span<const Finding> findings);

} // namespace rankscope
