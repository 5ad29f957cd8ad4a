// Several traces of one rank in one folder: windows of the same run, known by the step or the time
// in their names.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The window by a file's name: "worker0_step_12.1694128201545.pt.trace.json" has step 12
/// and a time (torch's handler writes milliseconds or nanoseconds since 1970).
struct WindowName {
  std::optional<std::int64_t> step, time;
  std::string rest; ///< the path with '#' in place of both numbers: equal for windows of one rank
};
[[nodiscard]] WindowName window_name(const std::string& path);

/// The traces of each rank.
using TracesByRank = std::map<std::int64_t, std::vector<std::string>>;

/// Leaves one trace of each rank that has several in one folder: those of the asked step or time
/// ("" = the newest window that all ranks have), with a note in `diag` (info). A rank without them
/// in its names, or whose traces are in several folders, keeps all. Errors: kUsage when no rank has
/// the asked window. `folder`: of the run, for messages.
Result<void> choose_windows(TracesByRank& ranks, const std::string& asked,
                            const std::string& folder, Diagnostics& diag);

} // namespace rankscope
