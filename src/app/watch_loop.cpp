#include "app/watch_loop.h"

#include "base/units.h"

namespace rankscope {

Result<void> run_watch(Session& session, Watch& watch, WatchLoop& loop, const WatchClock& clock,
                       const std::function<Result<void>(const WatchPoll&, std::int64_t)>& shown) {
  std::int64_t newest_ns = clock.now_ns();
  for (bool last = loop.once;;) {
    const std::int64_t now = clock.now_ns();
    // no alarm for silence after the end of the job
    last = last || (loop.end && loop.end->reached(now));
    Result<WatchPoll> poll = watch.poll(session, now, last);
    if (!poll && poll.error().code == ErrorCode::kInterrupted)
      return {};
    if (!poll)
      return poll.error();
    RS_CHECK(shown(*poll, now));
    if (loop.once && !watch.has_seen_any())
      return Error{ErrorCode::kUnreadable, watch.request().inputs.front(),
                   "contains neither traces nor Inspector logs", ""};
    if (poll->read > 0 || poll->records > 0 || !poll->waiting.empty())
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
