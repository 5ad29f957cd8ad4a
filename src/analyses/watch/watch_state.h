// The state of a job that `watch` keeps between polls, and the file that preserves it over a
// restart.
#pragma once

#include "analyses/watch/reached_windows.h"
#include "analyses/watch/watch_judge.h"
#include "analyses/watch/watch_logs.h"
#include "analyses/watch/watch_rhythm.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Kind and version of the state file (core/part.h). Raise the version when fields change.
inline constexpr std::string_view kWatchStateKind = "watch";
inline constexpr std::uint32_t kWatchStateVersion = 7;

/// A larger world size in a header is not valid.
inline constexpr std::int64_t kMostWatchedRanks = 1 << 20;

/// The complete state. After the same polls, two states are equal, with or without a restart
/// between the polls.
struct WatchState {
  static constexpr std::size_t kMostShown = 64;

  /// A window that is not yet judged, with the ranks that have arrived.
  struct Open {
    std::size_t number = 0;
    std::int64_t first_step = -1, last_step = -1; ///< -1: no steps
    std::map<std::int64_t, WatchedRank> ranks;
  };
  /// Progress of a rank.
  struct Seen {
    std::size_t window = 0;      ///< newest window of the rank; 0: no window yet
    std::int64_t last_step = -1; ///< last step of its newest trace; -1: no steps
    std::int64_t heard_ns = 0;   ///< unix time at which that trace was read
  };
  /// Files that were read. The key is the hash of the path; the value is the hash of size and time.
  std::map<std::uint64_t, std::uint64_t> read;
  std::map<std::int64_t, Seen> ranks; ///< ranks that have traces, even if these are not yet read
  std::int64_t world = 0;             ///< world size from trace headers
  std::vector<Open> open;
  ReachedWindows reached;
  std::size_t windows_begun = 0;
  std::int64_t judged_step = -1; ///< the newest step in judged windows
  WatchJudge judge;
  std::vector<WatchedWindow> shown; ///< the newest judged windows
  std::vector<Alarm> alarms;        ///< the newest raised alarms
  std::uint64_t raised = 0;         ///< number of all raised alarms
  /// Read position in an Inspector log.
  struct LogFile {
    std::uint64_t offset = 0; ///< position after the last complete object
    /// Hash of the first head_bytes bytes; a different hash means a different file.
    std::uint64_t head = 0;
    std::uint32_t head_bytes = 0;
    std::uint32_t process = 0;
    std::uint64_t bytes = 0; ///< size of the file, and time of its last change, at the last poll
    std::int64_t written_ns = 0;
    InspectorHeader last; ///< header of the object before the offset
  };
  std::map<std::string, LogFile> log_files; ///< by path
  LogWatch logs;
  WatchRhythm rhythm;

  /// Stores a judged window.
  void show(WatchedWindow window);
  /// Stores an alarm with its time.
  void raise(Alarm alarm, std::int64_t now_ns);
};

/// A state with its input folders, one folder per line.
struct WatchStateFile {
  std::string inputs;
  WatchState state;
};

/// Returns the content of the state file.
[[nodiscard]] std::string encode_watch_state(const std::string& inputs, const WatchState& state);
/// Returns a state to resume from. Errors: kUnreadable, also for impossible numbers.
[[nodiscard]] Result<WatchStateFile> decode_watch_state(std::string_view bytes);

} // namespace rankscope
