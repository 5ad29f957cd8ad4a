// The Inspector logs below the folders of `watch`: reads the records written since the last poll.
#pragma once

#include "analyses/watch/watch_state.h"
#include "base/result.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct LogPoll {
  std::uint64_t records = 0;         ///< records of collectives read by this poll
  bool heard = false;                ///< new data show that a process works
  std::vector<std::string> warnings; ///< truncated, replaced or damaged logs
  std::vector<Alarm> alarms;
  std::vector<WatchedWindow> windows;
};

/// Returns whether a file may be a log, by its name: .log or .jsonl, also with .gz or .zst.
[[nodiscard]] bool is_log_name(std::string_view path);

/// Resumes at the positions in the state. Reads piece by piece, always from the logs that are
/// behind the others, so that few collectives wait for records of other ranks. Incomplete records
/// stay for the next poll. Memory: one piece.
class LogFiles {
public:
  /// `inputs`: folders, or logs. `last`: no poll follows. Errors: kInterrupted.
  Result<LogPoll> poll(const std::vector<std::string>& inputs, WatchState& state,
                       std::int64_t now_ns, std::int64_t still_ns, bool last);

private:
  std::vector<std::string> logs_below(const std::vector<std::string>& inputs,
                                      const WatchState& state);

  std::set<std::string> others_; ///< files with log names that are not logs
};

} // namespace rankscope
