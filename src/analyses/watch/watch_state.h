// What `watch` keeps of a job from look to look, and the file that carries it over a restart.
#pragma once

#include "analyses/watch/watch_judge.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Its kind and version (core/part.h): raise the version with the fields.
inline constexpr std::string_view kWatchStateKind = "watch";
inline constexpr std::uint32_t kWatchStateVersion = 1;

/// A world that is said to be larger is none.
inline constexpr std::int64_t kMostWatchedRanks = 1 << 20;

/// One line of the summary: a window that was judged.
struct WatchedWindow {
  std::string label;
  std::size_t number = 0, ranks = 0, of = 0; ///< `of`: ranks that are known
  double step_ms = 0, exposed_percent = 0;
  double bus_gbps = 0; ///< mean over the kinds of collectives; 0 without any
  std::optional<std::int64_t> latest_rank;
  double late_us = 0; ///< of the latest rank, mean
};

/// Everything that is kept: two of it are equal after the same looks, with or without a restart
/// between them.
struct WatchState {
  /// Ranks of a window as they come, until it is judged.
  struct Open {
    std::size_t number = 0;
    std::int64_t first_step = -1, last_step = -1; ///< -1: no steps
    std::map<std::int64_t, WatchedRank> ranks;
    bool judged = false;
  };
  /// When most ranks had come to a window.
  struct Reached {
    std::size_t number = 0;
    std::int64_t at_ns = 0;
  };
  std::map<std::uint64_t, std::uint64_t> read; ///< files by the hashes of path and of size and time
  std::map<std::int64_t, std::size_t> newest;  ///< by rank: its newest window
  std::int64_t world = 0;                      ///< by headers
  std::vector<Open> open;
  std::vector<Reached> reached;
  std::size_t windows_begun = 0;
  WatchJudge judge;
  std::vector<WatchedWindow> shown; ///< the newest that were judged
  std::vector<Alarm> alarms;        ///< the newest that were raised
  std::uint64_t raised = 0;         ///< alarms in all
};

/// A state and the folders that it is of, one a line.
struct WatchStateFile {
  std::string inputs;
  WatchState state;
};

/// The bytes of the file.
[[nodiscard]] std::string encode_watch_state(const std::string& inputs, const WatchState& state);
/// What can be gone on with. Errors: kUnreadable, also for numbers that no job has.
[[nodiscard]] Result<WatchStateFile> decode_watch_state(std::string_view bytes);

} // namespace rankscope
