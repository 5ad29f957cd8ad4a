// The verdict of a comparison for programs: JSON, JUnit XML, and annotations for a workflow log.
#pragma once

#include "app/compare.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns {"schema": "rankscope.verdict/1", "result": passed|regression|not judged, "baseline",
/// "tests", "conditions": [...], "metrics": [...], "changes": [...]}. Values are numbers; missing
/// values are null.
[[nodiscard]] std::string verdict_json(const CompareResult& result);

/// Returns a test case per condition and test run; a condition that was not judged is skipped.
/// Without conditions, returns a case per metric of the dashboard; these cases never fail.
[[nodiscard]] std::string verdict_junit(const CompareResult& result);

/// Returns annotations for the log of a GitHub workflow, one per line: "::error title=...::..." for
/// each regression, "::warning ..." for each condition that was not judged.
[[nodiscard]] std::vector<std::string> annotations(const FailOutcome& outcome);

} // namespace rankscope
