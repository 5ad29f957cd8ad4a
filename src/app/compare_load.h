// One side of `rankscope compare`: from traces, writing their reports, or from existing reports.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/compare/compared_run.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <string>

namespace rankscope {

struct CompareInput {
  std::string folder;
  std::string label;
  std::string out; ///< reports of traces go to OUT/individual_reports and OUT/collective_reports
  DiscoverOptions discover;
  bool reports_only = false; ///< --skip-tracelens: never read traces
  bool individual = true;
  bool collective = true;
  bool write_reports =
      true; ///< false: what `individual` and `collective` ask for is gathered alone
  AlignMode align = AlignMode::kCollectives; ///< clocks of the ranks in the collective report
};

/// A file that `baseline save` wrote is a run as it is. Else parses each trace once and writes both
/// kinds of reports; without traces (or with reports_only)
/// reads perf_rank<r> and collective_* workbooks or CSV folders. A broken rank is left out and
/// named, and so are ranks that are missing, copied or of another run. Errors: kUnreadable when no
/// rank is left, kOutput.
Result<ComparedRun> load_compared_run(Session& ctx, const CompareInput& input);

} // namespace rankscope
