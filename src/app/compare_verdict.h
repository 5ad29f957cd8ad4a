// The verdict of a comparison for programs: JSON, JUnit's XML, annotations of a workflow's log.
#pragma once

#include "app/compare.h"

#include <string>
#include <vector>

namespace rankscope {

/// {"schema": "rankscope.verdict/1", "result": passed|regression|not judged, "baseline", "tests",
/// "conditions": [...], "metrics": [...], "changes": [...]}: values as numbers, null for missing
/// ones.
[[nodiscard]] std::string verdict_json(const CompareResult& result);

/// Returns a test case per condition and test run; one that was not judged is skipped. Without
/// conditions, returns a case per metric of the dashboard; these cases never fail.
[[nodiscard]] std::string verdict_junit(const CompareResult& result);

/// "::error title=...::..." for each regression and "::warning ..." for what was not judged, as the
/// log of a GitHub workflow takes them; a line each.
[[nodiscard]] std::vector<std::string> annotations(const FailOutcome& outcome);

} // namespace rankscope
