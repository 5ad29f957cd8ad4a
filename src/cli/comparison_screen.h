// Final output of `compare` and `baseline check`.
#pragma once

#include "app/compare.h"
#include "cli/command.h"

namespace rankscope {

/// Prints the result (JSON with --json), annotations if requested, and conditions without a
/// verdict. Errors: kRegression when a condition is met; those of the page.
Result<void> show_comparison(Context& ctx, const CompareRequest& request,
                             const CompareResult& result, bool annotate);

/// Prints the end of the result: annotations if requested, and conditions without a verdict.
/// Annotations are on stderr if a document is on stdout; workflows read both. Errors: as above.
Result<void> show_verdict(Context& ctx, const CompareRequest& request, const CompareResult& result,
                          bool annotate);

} // namespace rankscope
