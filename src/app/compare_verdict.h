// The verdict of a comparison for programs: JSON, JUnit's XML, annotations of a workflow's log.
#pragma once

#include "app/compare.h"

#include <string>
#include <vector>

namespace rankscope {

/// {"schema": "rankscope.verdict/1", "result": passed|regression|not judged, "baseline", "tests",
/// "conditions": [...], "metrics": [...], "changes": [...]}: figures as numbers, null for what
/// there is none of.
[[nodiscard]] std::string verdict_json(const CompareResult& result);

/// A test case for each condition and test run; one that was not judged is skipped. Without
/// conditions a case for each figure of the dashboard, none of which fails.
[[nodiscard]] std::string verdict_junit(const CompareResult& result);

/// "::error title=...::..." for each regression and "::warning ..." for what was not judged, as the
/// log of a GitHub workflow takes them; a line each.
[[nodiscard]] std::vector<std::string> annotations(const FailOutcome& outcome);

} // namespace rankscope
