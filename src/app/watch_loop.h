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

/// The conditions that end the polls.
struct WatchLoop {
  double interval_s = 10;
  double idle_s = 300;
  bool once = false;
  bool until_alarm = false, until_idle = false;
  std::optional<JobEnd> end; ///< end of the watched job
};

/// Polls until an end condition is met, an interrupt or an error. Calls `shown` with each poll.
/// Errors: those of `shown` and of Watch::poll(), except an interrupt; kUnreadable if a single poll
/// finds no data.
Result<void> run_watch(Session& session, Watch& watch, WatchLoop& loop, const WatchClock& clock,
                       const std::function<Result<void>(const WatchPoll&, std::int64_t)>& shown);

} // namespace rankscope
