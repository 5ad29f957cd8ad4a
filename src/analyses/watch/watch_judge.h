// Finds windows of a running job that need attention: ranks that start late, bandwidth that falls,
// ranks without progress, a job without any progress. docs/watch.md has the rules and how often
// they may be wrong.
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

enum class AlarmKind : std::uint8_t { kStraggler, kBandwidth, kHang, kCollective, kSilent };
inline constexpr std::uint64_t kAlarmKinds = 5;
/// "straggler", "bandwidth", "hang", "collective", "silent".
[[nodiscard]] std::string_view alarm_name(AlarmKind kind);

struct Alarm {
  AlarmKind kind = AlarmKind::kStraggler;
  std::string subject; ///< the ranks, the collective, the group
  std::string sentence;
  std::size_t window = 0;     ///< windows judged by then
  std::int64_t raised_ns = 0; ///< unix time; set where it is stored
  std::string label = {};     ///< of the window that it is about; "" = no window
};

struct WatchLimits {
  /// A straggler starts its collectives later by more than this. Empty: the lateness has to cost
  /// kLeastCostPercent of the step, or kLeastLateUs where the step time is unknown (logs).
  std::optional<double> least_late_us = std::nullopt;
  double least_fall_percent = 10; ///< of the bandwidth before
  static constexpr double kLeastCostPercent = 0.5, kLeastLateUs = 100;
};

/// Sums of a sample that grows (Welford 1962).
struct RunningSample {
  std::uint64_t n = 0;
  double mean = 0, squares = 0; ///< of the distances from the mean
  void add(double value);
  [[nodiscard]] double variance() const { return n > 1 ? squares / static_cast<double>(n - 1) : 0; }
};

/// Bandwidth of some windows.
struct BandwidthSample {
  RunningSample steps;   ///< of all windows
  RunningSample windows; ///< their means
};

/// The bandwidth of a kind of collective, without the windows in which it had fallen. The first
/// windows are stored separately: a slow decline becomes part of the mean of all windows.
struct BandwidthBefore {
  BandwidthSample all, first;
};

/// An alarm that was raised, until its reason has gone for kQuietWindows; or evidence from a single
/// window, which the next may confirm.
struct WatchReason {
  bool raised = false;
  std::size_t last_window = 0; ///< in which it was seen
};

/// Takes windows in order. Its memory does not grow with their number. If nothing changes, all
/// windows together raise an alarm in at most 5 % of the jobs (and one in 10,000 windows and ranks
/// by confirmation): several ranks or collectives of a window are one family
/// (Bonferroni), and window k may err by 0.025 / (k (k + 1)), the sum of which is 0.025 for each of
/// two kinds of statements. Each rank and each kind of collective has a separate reason.
class WatchJudge {
public:
  explicit WatchJudge(WatchLimits limits = {}) : limits_(limits) {}

  /// Returns the alarms that this window raises and that were not raised before.
  [[nodiscard]] std::vector<Alarm> judge(const WatchWindow& window);
  /// Names ranks that make no progress while others do, each once until it continues.
  [[nodiscard]] std::optional<Alarm> judge_still(const std::vector<std::int64_t>& still,
                                                 std::string_view others);
  [[nodiscard]] std::size_t windows() const { return windows_; }
  /// Limits belong to a run of watch and are not stored.
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
  [[nodiscard]] double least_late_us(const WatchWindow& window, const WatchedLateness& row) const;
  /// Whether to raise an alarm: the evidence is sure, or seen for the second time.
  bool is_news(const std::string& reason, bool surely);
  void forget_gone();

  WatchLimits limits_;
  std::size_t windows_ = 0;
  std::map<std::string, BandwidthBefore> before_;
  std::map<std::string, WatchReason> reasons_; ///< by kind and subject
  std::vector<std::int64_t> still_;            ///< ranks that were named, ascending
};

} // namespace rankscope
