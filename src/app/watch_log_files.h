// The Inspector logs below the folders of `watch`: what was written to them since the last look.
#pragma once

#include "analyses/watch/watch_state.h"
#include "base/result.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

struct LogLook {
  std::uint64_t records = 0;        ///< of collectives, that this look read
  std::vector<std::string> remarks; ///< logs that were cut off, replaced or damaged
  std::vector<Alarm> alarms;
  std::vector<WatchedWindow> windows;
};

/// Reads on where the state says, a piece of the logs that are behind in turn, so that collectives
/// wait for few records of other ranks; what has not ended yet stays for the next look. Memory: a
/// piece.
class LogFiles {
public:
  /// `inputs`: folders, or logs. `last`: no look follows. Errors: kInterrupted.
  Result<LogLook> look(const std::vector<std::string>& inputs, WatchState& state,
                       std::int64_t now_ns, std::int64_t still_ns, bool last);

private:
  std::vector<std::string> logs_below(const std::vector<std::string>& inputs,
                                      const WatchState& state);

  std::set<std::string> others_; ///< *.log that are none, by what they begin with
};

} // namespace rankscope
