// The use case behind `rankscope watch`: polls folders to which a running job writes, judges each
// window of the job, and raises alarms. After a restart it resumes from a state on disk.
#pragma once

#include "analyses/watch/watch_judge.h"
#include "analyses/watch/watch_state.h"
#include "app/watch_log_files.h"
#include "base/result.h"
#include "engine/session.h"
#include "os/file_stamp.h"
#include "readers/discovery.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

struct WatchRequest {
  std::vector<std::string> inputs; ///< folders; may not exist yet
  DiscoverOptions discover;
  WatchLimits limits;
  double settled_s = 5; ///< a file is complete if it was last written this long ago
  double still_s = 300; ///< raise an alarm for a rank that is this long behind most others
  bool silent = true;   ///< raise an alarm if a job writes nothing for at least `still_s`
  double window_s = 60; ///< window length for logs: from a second to a day
  std::string state;    ///< state file; "": a restart begins without a state
  std::uint64_t memory_bytes = 0;
};

/// A trace that may be read.
struct WatchedFile {
  using Stamp = FileStamp;
  std::string path;
  Stamp stamp;
  std::optional<std::int64_t> rank; ///< from the file name
  std::size_t turn = 0;             ///< 0-based index among this rank's new files
};

struct WatchPoll {
  std::vector<Alarm> alarms;          ///< alarms not reported before
  std::vector<WatchedWindow> windows; ///< windows judged by this poll
  std::vector<std::string> waiting;   ///< files that may still grow
  std::vector<std::string> lost;      ///< files that could not be read, with the reason
  std::vector<std::string> warnings;  ///< truncated, replaced or damaged logs; late traces
  std::size_t read = 0;               ///< traces that this poll read
  std::uint64_t records = 0;          ///< log records that this poll read
  std::vector<std::int64_t> ranks;    ///< known ranks, ascending
};

/// Polls folders. Not thread-safe. Memory: the collectives of at most kMostOpen windows, and some
/// bytes per existing file and per kind of collective.
class Watch {
public:
  static constexpr std::size_t kMostOpen = 4;

  /// Loads an existing state. Errors: kUnreadable for a state that is damaged or belongs to other
  /// inputs, kOutput for a state that cannot be written.
  static Result<Watch> open(WatchRequest request);

  /// Lists the files, reads new complete files, judges windows, and saves the state before it
  /// reports. `now_ns`: Unix time. `last`: no poll follows, so all files count as complete and
  /// incomplete windows are judged. Errors: kInterrupted, kOutput, kInternal.
  Result<WatchPoll> poll(Session& session, std::int64_t now_ns, bool last = false);

  [[nodiscard]] const WatchState& state() const { return state_; }
  [[nodiscard]] const WatchRequest& request() const { return request_; }
  /// Returns whether any trace or log was ever found.
  [[nodiscard]] bool has_seen_any() const {
    return !state_.ranks.empty() || !state_.read.empty() || state_.logs.processes() > 0;
  }

private:
  explicit Watch(WatchRequest request) : request_(std::move(request)) {}
  Result<std::vector<WatchedFile>> new_files(std::int64_t now_ns, bool last, WatchPoll& out);
  Result<void> read(Session& session, std::vector<WatchedFile> files, WatchPoll& out);
  Result<void> read_logs(bool last, WatchPoll& out);
  void take(WatchedRank rank, std::int64_t now_ns, WatchPoll& out);
  /// Returns nullptr for a trace that arrives after its window was judged.
  WatchState::Open* window_of(const WatchedRank& rank);
  void note_reached(std::int64_t now_ns);
  void judge_ready(bool last, WatchPoll& out);
  void judge(WatchState::Open& window, WatchPoll& out);
  void judge_still(std::int64_t now_ns, WatchPoll& out);
  void judge_silent(std::int64_t now_ns, WatchPoll& out);
  [[nodiscard]] std::vector<std::int64_t> known_ranks() const;
  [[nodiscard]] std::size_t how_many_known() const;
  Result<void> save() const;

  WatchRequest request_;
  WatchState state_;
  LogFiles log_files_;
  std::map<std::string, WatchedFile::Stamp> seen_; ///< incomplete files of the previous poll
  std::set<std::int64_t> growing_;                 ///< ranks whose files still grow
  /// Ranks whose trace arrived in this poll after its window was judged; the key is the window's
  /// steps.
  std::map<std::string, std::vector<std::int64_t>> late_;
  std::int64_t now_ns_ = 0;
  bool heard_ = false; ///< this poll found new data in a log
};

/// Returns a page without script that shows alarms, the newest first, and windows. The page reloads
/// itself every `refresh_s` seconds; 0: never.
[[nodiscard]] std::string watch_page(const WatchState& state,
                                     const std::vector<std::string>& inputs, std::int64_t now_ns,
                                     double refresh_s);

} // namespace rankscope
