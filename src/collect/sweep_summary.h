// The texts that a sweep leaves for people: the log with its documented lines, the summary with its
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

/// Which documented names fit.
enum class SweepKind { kThreadsChannels, kCuPairs, kOther };

[[nodiscard]] std::string log_name(SweepKind kind, const std::string& timestamp);
[[nodiscard]] std::string summary_name(SweepKind kind, const std::string& timestamp);
/// experiments/sweep_<timestamp>, experiments/rccl_warp_speed_<timestamp>.
[[nodiscard]] std::string default_folder(SweepKind kind, const std::string& timestamp);
/// "20251124_222204", local time.
[[nodiscard]] std::string sweep_timestamp(std::chrono::system_clock::time_point time);

/// Lines "[2026-02-03 04:05:06] text", appended; without colours. What cannot be written is lost.
class SweepLog : NonCopyable {
public:
  explicit SweepLog(const std::string& path);
  ~SweepLog();
  void line(std::string_view text);

private:
  std::FILE* file_;
};

/// A row of the summary; no outcome: the run was not reached.
struct SummaryRow {
  const PlannedRun* run = nullptr;
  const SweepSetting* setting = nullptr;
  std::optional<RunOutcome> outcome;
  std::optional<double> metric;               ///< of --metric, else the mean step time in ms
  std::optional<double> joules;               ///< of all GPUs that were sampled, over the run
  std::optional<double> joules_per_step = {}; ///< of those, mean over the profiler steps
  std::optional<double> host_joules = {};     ///< of processors and memory, by RAPL
};

/// The documented text, then findings and what is best.
[[nodiscard]] std::string summary_text(SweepKind kind, const std::string& folder,
                                       const std::vector<SummaryRow>& rows,
                                       const std::vector<std::string>& findings,
                                       std::chrono::system_clock::time_point now);

} // namespace rankscope
