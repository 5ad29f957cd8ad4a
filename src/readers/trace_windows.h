// Several traces of one rank in one folder: they are windows of the same run, identified by the
// step or the time in their names.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The window in a file's name: "worker0_step_12.1694128201545.pt.trace.json" has step 12 and a
/// time (torch's handler writes milliseconds or nanoseconds since 1970).
struct WindowName {
  std::optional<std::int64_t> step, time;
  std::string rest; ///< path with '#' for both numbers; equal for all windows of one rank
};
[[nodiscard]] WindowName window_name(const std::string& path);

/// The traces of each rank.
using TracesByRank = std::map<std::int64_t, std::vector<std::string>>;

/// Chooses one trace for each rank with several traces in one folder: the trace of the step or time
/// `asked` ("" = the newest window that all ranks have). Adds a note to `diag` (info). A rank
/// without windows in its file names, or with traces in several folders, keeps all. `folder`: the
/// run's folder, for messages. Errors: kUsage when no rank has the asked window.
Result<void> choose_windows(TracesByRank& ranks, const std::string& asked,
                            const std::string& folder, Diagnostics& diag);

} // namespace rankscope
