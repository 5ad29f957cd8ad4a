// Several traces of one rank in one folder are windows of the same run. The step or the time in the
// name identifies a window.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The window in a file name: "worker0_step_12.1694128201545.pt.trace.json" has step 12 and a time
/// (torch's trace handler writes milliseconds or nanoseconds since 1970).
struct WindowName {
  std::optional<std::int64_t> step, time;
  std::string rest; ///< path with '#' instead of both numbers; equal for all windows of one rank
};
[[nodiscard]] WindowName window_name(const std::string& path);

/// The traces of each rank.
using TracesByRank = std::map<std::int64_t, std::vector<std::string>>;

/// Chooses one trace for each rank that has several traces in one folder. `asked`: step or time of
/// the window; "" = the newest window that all ranks have. Ranks without this window are removed.
/// Adds a note to `diag` (info). If a rank has several traces but their names do not identify
/// windows, or they are in several folders, nothing changes. `folder`: folder of the run, for
/// messages. Errors: kUsage if no rank has the window `asked`.
Result<void> choose_windows(TracesByRank& ranks, const std::string& asked,
                            const std::string& folder, Diagnostics& diag);

} // namespace rankscope
