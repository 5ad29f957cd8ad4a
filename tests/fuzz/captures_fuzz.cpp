// Input: a server trace, a graph capture and the index of its folder, separated by NUL, for the
// merge and the report. Even if they do not match, each kernel must have one parent.
#include "analyses/analysis.h"
#include "engine/capture_folder.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace rankscope;

/// False if two launches have the same id: both then have its kernels in the trace.
bool one_parent_each(const LoadedTrace& t) {
  std::vector<EventId> seen(t.trace.events.size(), kNoEvent);
  for (EventId e = 0; e < t.trace.events.size(); ++e)
    for (const EventId child : t.tree.children(e)) {
      if (child >= seen.size())
        std::abort();
      if (seen[child] != kNoEvent)
        return false;
      seen[child] = e;
    }
  return true;
}

void check_launches(const LoadedTrace& t) {
  for (const GraphLaunch& launch : t.graph_launches)
    if (launch.attributed > launch.kernels)
      std::abort();
}

} // namespace

RS_FUZZ_TARGET(captures) {
  static const test::TempFolder folder;
  std::string parts[3]; // replay, capture, index
  test::split_parts(bytes, parts);
  const std::string replay = folder.write("replay.json", parts[0]);
  folder.write("captures/c.json", parts[1]);
  folder.write("captures/execution_details.json", parts[2]);
  for (const bool compat : {false, true}) {
    LoadOptions load;
    load.keep_launches = true;
    load.keep_python = compat;
    auto trace = load_trace(replay, load);
    if (!trace.has_value())
      return;
    const bool clean = one_parent_each(*trace);
    CaptureOptions options;
    options.compat = compat;
    options.keep_python = compat;
    if (!merge_capture_folder(*trace, folder.path("captures"), options))
      return;
    if (!compat) // the reference adds a graph below each launch that ran it
      check_launches(*trace);
    if (!compat && clean && !one_parent_each(*trace))
      std::abort();
    ReportOptions report;
    report.compat_tracelens = compat;
    report.compat_inference = compat;
    (void)build_report(*trace, report);
  }
}
