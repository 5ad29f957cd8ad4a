// The polls of `watch` until it ends. Time is a parameter, so that tests advance it.
#pragma once

#include "app/watch.h"
#include "app/watch_end.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace rankscope {

struct WatchClock {
  std::function<std::int64_t()> now_ns;      ///< unix time
  std::function<bool(double seconds)> sleep; ///< false: interrupted
};

/// When the polls end.
struct WatchLoop {
  double interval_s = 10;
  double idle_s = 300;
  bool once = false;
  bool until_alarm = false, until_idle = false;
  std::optional<JobEnd> end; ///< of the job
};

/// Polls until the loop's end, an interrupt or an error. `shown` gets each poll. Errors: those of
/// `shown` and of Watch::look, but an interrupt; kUnreadable for one poll that finds nothing.
Result<void> run_watch(Session& session, Watch& watch, WatchLoop& loop, const WatchClock& clock,
                       const std::function<Result<void>(const WatchLook&, std::int64_t)>& shown);

} // namespace rankscope
