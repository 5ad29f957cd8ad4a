// Loads one side of `rankscope compare`, either from traces, whose reports it writes, or from
// existing reports.
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
  /// The folder for reports made from traces: OUT/individual_reports and OUT/collective_reports.
  std::string out;
  DiscoverOptions discover;
  bool reports_only = false; ///< --skip-tracelens: never read traces
  bool individual = true;
  bool collective = true;
  bool write_reports =
      true; ///< false: gather the data for `individual` and `collective`, but write no reports
  AlignMode align = AlignMode::kCollectives; ///< clock alignment in the collective report
};

/// Loads one run. A file that `baseline save` wrote is used directly. Otherwise parses each trace
/// once and writes both kinds of reports. Without traces (or with reports_only) reads perf_rank<r>
/// and collective_* workbooks or CSV folders. Ranks that are broken, missing, copied or from
/// another run are left out and named. Errors: kUnreadable if no rank remains, kOutput.
Result<ComparedRun> load_compared_run(Session& ctx, const CompareInput& input);

} // namespace rankscope
