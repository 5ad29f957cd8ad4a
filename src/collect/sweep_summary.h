// Texts that a sweep writes for people: the log with its documented lines, and the summary with its
// documented columns.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "collect/sweep_run.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The kind of a sweep, which determines the documented names of its files.
enum class SweepKind { kThreadsChannels, kCuPairs, kOther };

[[nodiscard]] std::string log_name(SweepKind kind, const std::string& timestamp);
[[nodiscard]] std::string summary_name(SweepKind kind, const std::string& timestamp);
/// Returns experiments/sweep_<timestamp> or experiments/rccl_warp_speed_<timestamp>.
[[nodiscard]] std::string default_folder(SweepKind kind, const std::string& timestamp);
/// Returns local time as "20251124_222204".
[[nodiscard]] std::string sweep_timestamp(std::chrono::system_clock::time_point time);

/// A log file of lines "[2026-02-03 04:05:06] text" without colours. Lines are appended; lines that
/// cannot be written are lost.
class SweepLog : NonCopyable {
public:
  explicit SweepLog(const std::string& path);
  ~SweepLog();
  void line(std::string_view text);

private:
  std::FILE* file_;
};

/// A row of the summary. Without an outcome, the run was not reached.
struct SummaryRow {
  const PlannedRun* run = nullptr;
  const SweepSetting* setting = nullptr;
  std::optional<RunOutcome> outcome;
  std::optional<double> metric;               ///< value of --metric, else the mean step time in ms
  std::optional<double> joules;               ///< energy of all sampled GPUs over the run
  std::optional<double> joules_per_step = {}; ///< that energy per profiler step, mean over steps
  std::optional<double> host_joules = {};     ///< energy of processors and memory, from RAPL
};

/// Returns the documented text, then problems of the runs and the findings.
[[nodiscard]] std::string summary_text(SweepKind kind, const std::string& folder,
                                       const std::vector<SummaryRow>& rows,
                                       const std::vector<std::string>& findings,
                                       std::chrono::system_clock::time_point now);

} // namespace rankscope
