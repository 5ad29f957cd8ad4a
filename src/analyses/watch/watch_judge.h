// Finds windows of a running job that need attention: ranks that start late, bandwidth that falls,
// ranks without progress, a job without any progress. docs/watch.md has the rules and their error
// rates.
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
/// Returns "straggler", "bandwidth", "hang", "collective" or "silent".
[[nodiscard]] std::string_view alarm_name(AlarmKind kind);

struct Alarm {
  AlarmKind kind = AlarmKind::kStraggler;
  std::string subject; ///< the ranks, the collective or the group
  std::string sentence;
  std::size_t window = 0;     ///< number of windows judged at that time
  std::int64_t raised_ns = 0; ///< unix time; set when the alarm is stored
  std::string label = {};     ///< label of the window that the alarm is about; "" without a window
};

struct WatchLimits {
  /// Minimum lateness of a straggler at its collectives. Empty: the others must wait for it for
  /// kLeastCostPercent of the step; if the step time is unknown (logs), it must be kLeastLateUs
  /// late.
  std::optional<double> least_late_us = std::nullopt;
  double least_fall_percent = 10; ///< percentage of the previous bandwidth
  static constexpr double kLeastCostPercent = 0.5, kLeastLateUs = 100;
};

/// Sums of a growing sample (Welford 1962).
struct RunningSample {
  std::uint64_t n = 0;
  double mean = 0, squares = 0; ///< squares: sum of squared distances from the mean
  void add(double value);
  [[nodiscard]] double variance() const { return n > 1 ? squares / static_cast<double>(n - 1) : 0; }
};

/// Bandwidth samples of some windows.
struct BandwidthSample {
  RunningSample steps;   ///< sample of all steps of all windows
  RunningSample windows; ///< sample of the window means
};

/// The bandwidth of a kind of collective, without the windows in which the bandwidth had fallen.
/// The first windows are stored separately, because a slow decline becomes part of the mean of all
/// windows.
struct BandwidthBefore {
  BandwidthSample all, first;
};

/// A raised alarm, which is stored until its reason has been absent for kQuietWindows windows; or
/// evidence from one window, which the next window may confirm.
struct WatchReason {
  bool raised = false;
  std::size_t last_window = 0; ///< last window with the evidence
};

/// Judges windows in order. Its memory does not grow with the number of windows. If nothing
/// changes, the probability that any window of a job raises an alarm is at most 5 %. In addition,
/// one in 10,000 windows and ranks raises an alarm by confirmation. All ranks or collectives of a
/// window are tested together (Bonferroni). Window k has an error probability of 0.025 / (k (k +
/// 1)); the sum over all k is 0.025 for each of two kinds of alarms. Each rank and each kind of
/// collective has a separate reason.
class WatchJudge {
public:
  explicit WatchJudge(WatchLimits limits = {}) : limits_(limits) {}

  /// Returns the new alarms that this window raises.
  [[nodiscard]] std::vector<Alarm> judge(const WatchWindow& window);
  /// Returns an alarm that names ranks without progress while others progress. A rank is named only
  /// once until it continues.
  [[nodiscard]] std::optional<Alarm> judge_still(const std::vector<std::int64_t>& still,
                                                 std::string_view others);
  [[nodiscard]] std::size_t windows() const { return windows_; }
  /// Sets the limits. They belong to one run of the watch command and are not stored.
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
  [[nodiscard]] double least_late_us(const WatchWindow& window) const;
  /// Returns whether the others wait long enough for this rank; true if the time is unknown, or if
  /// the user chose the minimum lateness.
  [[nodiscard]] bool costs_enough(const WatchWindow& window, const WatchedLateness& row) const;
  /// Returns whether to raise an alarm: the evidence is certain, or was found for the second time.
  bool is_news(const std::string& reason, bool surely);
  void forget_gone();

  WatchLimits limits_;
  std::size_t windows_ = 0;
  std::map<std::string, BandwidthBefore> before_;
  std::map<std::string, WatchReason> reasons_; ///< by alarm kind and subject
  std::vector<std::int64_t> still_;            ///< ranks that an alarm named, ascending
};

} // namespace rankscope
