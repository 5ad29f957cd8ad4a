// What `compare` and `baseline check` print at their end.
#pragma once

#include "app/compare.h"
#include "cli/command.h"

namespace rankscope {

/// Prints the result (JSON with --json), annotations where asked for, and what could not be judged.
/// Errors: kRegression when a condition is met; that of the page.
Result<void> show_comparison(Context& ctx, const CompareRequest& request,
                             const CompareResult& result, bool annotate);

/// The end of it: annotations where asked for (on stderr where a document is on stdout; workflows
/// read both), what could not be judged. Errors: as above.
Result<void> show_verdict(Context& ctx, const CompareRequest& request, const CompareResult& result,
                          bool annotate);

} // namespace rankscope
