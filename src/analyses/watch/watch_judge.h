// Which of the windows of a running job call for somebody: a rank that comes late, bandwidth that
// falls, ranks that stand still. docs/watch.md has the rules with what they may err by.
#pragma once

#include "analyses/watch/watch_window.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class AlarmKind : std::uint8_t { kStraggler, kBandwidth, kHang, kCollective };
inline constexpr std::uint64_t kAlarmKinds = 4;
/// "straggler", "bandwidth", "hang", "collective".
[[nodiscard]] std::string_view alarm_name(AlarmKind kind);

struct Alarm {
  AlarmKind kind = AlarmKind::kStraggler;
  std::string subject; ///< the rank, the collective, the group
  std::string sentence;
  std::size_t window = 0; ///< how manieth, from 1
};

struct WatchLimits {
  double least_late_us = 10;      ///< a straggler comes later than the others by more
  double least_fall_percent = 10; ///< of the bandwidth that there was
};

/// Sums of a sample that grows (Welford 1962).
struct RunningSample {
  std::uint64_t n = 0;
  double mean = 0, squares = 0; ///< of the distances from the mean
  void add(double value);
  [[nodiscard]] double variance() const { return n > 1 ? squares / static_cast<double>(n - 1) : 0; }
};

/// The bandwidth of a collective in the windows before, without those in which it had fallen.
struct BandwidthBefore {
  RunningSample steps;   ///< of all windows
  RunningSample windows; ///< their means
};

/// An alarm that was raised, until its reason has gone for kQuietWindows; or what one window alone
/// shows, which the next may confirm.
struct WatchReason {
  bool raised = false;
  std::size_t last_window = 0; ///< in which it was seen
};

/// Takes windows in order. What it keeps does not grow with their number. Of a job in which nothing
/// changes, all windows together raise an alarm in 5 % of the jobs at most (and one in 10,000
/// windows and ranks by confirmation); several ranks or collectives of a window are one family
/// (Bonferroni), and window k may err by 0.025 / (k (k + 1)), the sum of which is 0.025 for each of
/// two kinds of statements.
class WatchJudge {
public:
  explicit WatchJudge(WatchLimits limits = {}) : limits_(limits) {}

  /// What this window shows that was not told before.
  [[nodiscard]] std::vector<Alarm> judge(const WatchWindow& window);
  /// Ranks that stand still while others go on, each told once until it goes on.
  [[nodiscard]] std::optional<Alarm> judge_still(const std::vector<std::int64_t>& still,
                                                 std::string_view others);
  [[nodiscard]] std::size_t windows() const { return windows_; }
  /// They are of a run of watch, not of what it keeps.
  void limit(WatchLimits limits) { limits_ = limits; }

private:
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, WatchJudge>
  friend void part_fields(Archive& archive, Row& judge) {
    archive(judge.windows_, judge.before_, judge.reasons_, judge.still_);
  }

  void stragglers(const WatchWindow& window, std::vector<Alarm>& out);
  void bandwidth(const WatchWindow& window, std::vector<Alarm>& out);
  void gaps(const WatchWindow& window, std::vector<Alarm>& out);
  [[nodiscard]] double spent_alpha(std::size_t family) const;
  /// Whether an alarm is to be raised for what this window shows: surely, or for the second time.
  bool told(const std::string& reason, bool surely);
  void forget_gone();

  WatchLimits limits_;
  std::size_t windows_ = 0;
  std::map<std::string, BandwidthBefore> before_;
  std::map<std::string, WatchReason> reasons_; ///< by kind and subject
  std::vector<std::int64_t> still_;            ///< ranks that were told, ascending
};

} // namespace rankscope
