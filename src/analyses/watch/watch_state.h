// The state of a job that `watch` keeps between polls, and the file that saves it over a restart.
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

/// Its kind and version (core/part.h): raise the version with the fields.
inline constexpr std::string_view kWatchStateKind = "watch";
inline constexpr std::uint32_t kWatchStateVersion = 6;

/// A larger world size in a header is not valid.
inline constexpr std::int64_t kMostWatchedRanks = 1 << 20;

/// The complete state: two states are equal after the same polls, with or without a restart between
/// them.
struct WatchState {
  static constexpr std::size_t kMostShown = 64;

  /// Ranks of a window as they come, until it is judged.
  struct Open {
    std::size_t number = 0;
    std::int64_t first_step = -1, last_step = -1; ///< -1: no steps
    std::map<std::int64_t, WatchedRank> ranks;
  };
  /// What is known of a rank.
  struct Seen {
    std::size_t window = 0;      ///< its newest; 0: none yet
    std::int64_t last_step = -1; ///< of its newest trace; -1: no steps
    std::int64_t heard_ns = 0;   ///< when that was read, unix time
  };
  std::map<std::uint64_t, std::uint64_t> read; ///< files by the hashes of path and of size and time
  std::map<std::int64_t, Seen> ranks;          ///< that have traces, also ones not yet read
  std::int64_t world = 0;                      ///< by headers
  std::vector<Open> open;
  ReachedWindows reached;
  std::size_t windows_begun = 0;
  std::int64_t judged_step = -1; ///< the newest step of the windows that were judged
  WatchJudge judge;
  std::vector<WatchedWindow> shown; ///< the newest that were judged
  std::vector<Alarm> alarms;        ///< the newest that were raised
  std::uint64_t raised = 0;         ///< alarms in all
  /// How far an Inspector log was read.
  struct LogFile {
    std::uint64_t offset = 0; ///< after the last complete object
    std::uint64_t head = 0;   ///< hash of its first head_bytes: another one is another file
    std::uint32_t head_bytes = 0;
    std::uint32_t process = 0;
    std::uint64_t bytes = 0; ///< of the file, and when it was written, at the last poll
    std::int64_t written_ns = 0;
    InspectorHeader last; ///< of the object before the offset
  };
  std::map<std::string, LogFile> log_files; ///< by path
  LogWatch logs;
  WatchRhythm rhythm;

  /// Stores a window that was judged.
  void show(WatchedWindow window);
  /// Stores an alarm with its time.
  void raise(Alarm alarm, std::int64_t now_ns);
};

/// A state and its input folders, one per line.
struct WatchStateFile {
  std::string inputs;
  WatchState state;
};

/// The bytes of the file.
[[nodiscard]] std::string encode_watch_state(const std::string& inputs, const WatchState& state);
/// Returns a state to resume from. Errors: kUnreadable, also for impossible numbers.
[[nodiscard]] Result<WatchStateFile> decode_watch_state(std::string_view bytes);

} // namespace rankscope
