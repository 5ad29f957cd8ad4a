// Watches a running job by its Inspector logs, window by window. Combines the records of the ranks
// into collectives, and the collectives into the lateness of each process and the bandwidth of each
// kind. A window is a range of the log time.
#pragma once

#include "analyses/watch/reached_windows.h"
#include "analyses/watch/watch_judge.h"
#include "core/inspector_record.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// A process that writes a log file.
struct LogProcess {
  std::string name; ///< name of its log without the file extension: "node01-pid1002"
  std::string comm; ///< its largest communicator
  std::int64_t rank = -1, n_ranks = 0; ///< rank and size in that communicator
  std::int64_t newest_window = -1;     ///< window of its newest log object; -1: no object yet
  std::int64_t heard_ns = 0;           ///< unix time at which its newest data was read
};

struct LogGroup {
  std::string name;
  std::vector<std::uint32_t> processes; ///< by rank: number of the process, from 1; 0: unknown
  /// Newest collective number plus 1 of each rank, by call; 0: no record.
  std::map<std::string, std::vector<std::uint64_t>> newest;
  std::int64_t newest_window = 0;
};

/// A collective that still lacks the records of some ranks.
struct LogCollective {
  std::uint64_t bytes = 0;
  double bus_gbps = 0; ///< bus bandwidth of the rank that waited least
  std::int64_t last_us = 0;
  std::uint32_t present = 0; ///< number of ranks with a record
  bool timed = true;
  std::vector<std::uint32_t> exec_us; ///< by rank; kNoExec without a record
};

/// Sum and number of the values in one slot of a window.
struct LogSlot {
  double sum = 0;
  std::uint64_t n = 0;
};

struct LogWindow {
  std::map<std::uint32_t, std::uint64_t> records;        ///< by process
  std::map<std::uint32_t, std::vector<LogSlot>> late_us; ///< by process
  std::map<std::string, std::vector<LogSlot>> bus_gbps;  ///< by group, call and size
  double transfer_us = 0;      ///< sum over the collectives with a bandwidth
  double gbps_transfer_us = 0; ///< sum of bandwidth x transfer time
};

/// Returns a text such as "default_pg 0x7f" for a communicator and its name, which may be "".
[[nodiscard]] std::string group_text(const std::string& comm, const std::string& name);

/// Processes records in the order of each log. Its memory is bounded. It stores some bytes for each
/// rank of each communicator and at most four million cells (a rank of a collective) that wait for
/// other ranks. It stores at most kMostOpen + 1 windows if logs were read to their ends, else
/// kMostUnread.
class LogWatch {
public:
  static constexpr std::uint32_t kNoExec = 0xffffffffU;
  static constexpr std::size_t kSlots = 6; ///< slots of a window; each gives one sample
  static constexpr std::size_t kMostOpen = 4, kMostUnread = 1024;
  /// State of the logs. kSome: some logs have unread data; kAll: all data so far were read; kLast:
  /// all data were read, and no more data will be written.
  enum class Read : std::uint8_t { kSome, kAll, kLast };
  static constexpr std::int64_t kLeastWindowUs = 1'000'000, kMostWindowUs = 86'400'000'000;

  explicit LogWatch(WatchLimits limits = {}) : judge_(limits) {}

  /// Sets the length of a window, from a second to a day. Must be called before the first record.
  void set_window(std::int64_t window_us) { window_us_ = window_us; }
  [[nodiscard]] std::int64_t window_us() const { return window_us_; }
  void limit(WatchLimits limits) { judge_.limit(limits); }

  /// Returns the number of the process that writes this log, or a new number if the log is unknown.
  std::uint32_t process(std::string_view name);
  /// Returns whether there is a process with this name.
  [[nodiscard]] bool knows(std::string_view name) const;
  void take(std::uint32_t process, const InspectorRecord& record);
  /// Notes that data which the process wrote at `works_us` (unix time) was read now.
  void hear(std::uint32_t process, std::int64_t works_us, std::int64_t now_ns);
  /// Returns the newest window of a process; -1: no window yet.
  [[nodiscard]] std::int64_t newest_window(std::uint32_t process) const {
    return processes_[process].newest_window;
  }
  /// Counts collectives that the plugin dropped.
  void note_dropped(std::uint64_t collectives) { dropped_ += collectives; }

  /// Judges windows that all processes have passed. If more than kMostOpen windows are open
  /// (kMostUnread while logs have unread data), judges the oldest without waiting. kLast: judges
  /// all. `now_ns` is unix time.
  void advance(std::int64_t now_ns, Read read, std::vector<Alarm>& alarms,
               std::vector<WatchedWindow>& windows);
  /// Raises an alarm for processes that were behind most other processes for at least `still_ns`
  /// and from which no data was read in this time.
  void judge_still(std::int64_t now_ns, std::int64_t still_ns, std::vector<Alarm>& alarms);

  [[nodiscard]] std::size_t processes() const { return processes_.size(); }
  [[nodiscard]] std::size_t judged() const { return judge_.windows(); }
  /// Returns the number of windows with records, judged or not.
  [[nodiscard]] std::size_t windows() const { return judge_.windows() + windows_.size(); }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  /// Returns the number of collectives that could not be compared because records of a rank are
  /// missing.
  [[nodiscard]] std::uint64_t incomplete() const { return incomplete_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  /// Checks data read from a file. Returns "" or a description of the inconsistency.
  [[nodiscard]] std::string problem() const;

private:
  using Key =
      std::pair<std::pair<std::string, std::string>, std::uint64_t>; ///< group, call, number
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, LogWatch>
  friend void part_fields(Archive& archive, Row& r) {
    archive(r.window_us_, r.processes_, r.groups_, r.waiting_, r.windows_, r.reached_,
            r.next_window_, r.judge_, r.records_, r.incomplete_, r.dropped_);
    if constexpr (Archive::kReads) {
      r.count_waiting();
      r.count_groups();
    }
  }

  LogGroup* group_of(const InspectorRecord& record);
  /// Returns whether the record is new, judged by its number, and notes the number.
  bool is_new(LogGroup& group, const InspectorRecord& record, bool awaited);
  LogCollective& waiting(const Key& key, const InspectorRecord& record);
  void fold(const Key& key, const LogCollective& collective, const LogGroup& group);
  LogWindow& window_at(std::int64_t us, std::size_t& slot);
  void note_reached(std::int64_t now_ns);
  [[nodiscard]] std::vector<WatchedGap> gaps(std::int64_t window) const;
  void judge(std::int64_t number, const LogWindow& window, std::vector<Alarm>& alarms,
             std::vector<WatchedWindow>& windows);
  void forget(std::int64_t window);
  void evict();
  /// Removes the waiting collectives that `which` selects and counts them as incomplete.
  template <class Which> void give_up(const Which& which);
  /// Removes the waiting collectives of a communicator and counts them as incomplete.
  void give_up_group(const std::string& comm);
  void count_waiting();
  void count_groups();
  [[nodiscard]] std::vector<std::int64_t> ranks_of_processes() const;

  std::int64_t window_us_ = 60'000'000;
  std::vector<LogProcess> processes_;
  std::map<std::string, LogGroup> groups_; ///< by communicator
  std::map<Key, LogCollective> waiting_;
  std::map<std::int64_t, LogWindow> windows_; ///< windows that are not yet judged
  ReachedWindows reached_;
  std::int64_t next_window_ = 0; ///< all earlier windows are judged
  WatchJudge judge_;
  std::uint64_t records_ = 0, incomplete_ = 0, dropped_ = 0;
  std::size_t waiting_cells_ = 0; ///< number of cells in waiting_
  std::size_t group_cells_ = 0;   ///< number of cells in groups_
};

template <class Which> void LogWatch::give_up(const Which& which) {
  incomplete_ +=
      std::erase_if(waiting_, [&](const auto& item) { return which(item.first, item.second); });
  count_waiting();
}

} // namespace rankscope
