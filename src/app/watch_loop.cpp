#include "app/watch_loop.h"

#include "base/units.h"

namespace rankscope {

Result<void> run_watch(Session& session, Watch& watch, WatchLoop& loop, const WatchClock& clock,
                       const std::function<Result<void>(const WatchLook&, std::int64_t)>& shown) {
  std::int64_t newest_ns = clock.now_ns();
  for (bool last = loop.once;;) {
    const std::int64_t now = clock.now_ns();
    // no alarm for silence after the end of the job
    last = last || (loop.end && loop.end->reached(now));
    Result<WatchLook> look = watch.look(session, now, last);
    if (!look && look.error().code == ErrorCode::kInterrupted)
      return {};
    if (!look)
      return look.error();
    RS_CHECK(shown(*look, now));
    if (loop.once && !watch.has_seen_any())
      return Error{ErrorCode::kUnreadable, watch.request().inputs.front(),
                   "contains neither traces nor Inspector logs", ""};
    if (look->read > 0 || look->records > 0 || !look->waiting.empty())
      newest_ns = now;
    if (last || (loop.until_alarm && watch.state().raised > 0))
      return {};
    // after the last data, one poll judges the rest of the last window
    last = loop.until_idle && now - newest_ns >= s_to_ns(loop.idle_s);
    if (!last && !clock.sleep(loop.interval_s))
      return {};
  }
}

} // namespace rankscope
