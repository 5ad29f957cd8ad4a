#include "collect/sweep_summary.h"

#include "base/time_text.h"
#include "os/input_file.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns the documented word for the status; a time-out counts as a failure.
const char* status_word(const SummaryRow& row) {
  if (!row.outcome)
    return "UNKNOWN";
  switch (row.outcome->status) {
  case RunStatus::kSuccess:
    return "SUCCESS";
  case RunStatus::kSkipped:
    return "SKIPPED";
  case RunStatus::kFailed:
  case RunStatus::kTimeout:
  case RunStatus::kInterrupted:
    break;
  }
  return "FAILED";
}

std::string seconds_word(const SummaryRow& row) {
  return row.outcome && row.outcome->status != RunStatus::kSkipped
             ? fmt::format("{:.0f}", std::floor(row.outcome->seconds))
             : "N/A";
}

std::string value_of_sweep_summary(const SummaryRow& row, std::string_view name) {
  return std::string(row.setting->configuration.text(name).value_or(""));
}

bool with_repeats(const std::vector<SummaryRow>& rows) {
  return !rows.empty() && rows.front().run->repeat > 0;
}

std::string grid_rows(const std::vector<SummaryRow>& rows) {
  std::string out = fmt::format("{:<10} {:<15} {:<10} {:<15}{}\n", "THREADS", "CHANNELS", "STATUS",
                                "DURATION(s)", with_repeats(rows) ? " REPEAT" : "");
  out += std::string(52, '-') + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SummaryRow& row = rows[i];
    const std::string threads = value_of_sweep_summary(row, kThreads);
    out += fmt::format("{:<10} {:<15} {:<10} {:<15}", threads,
                       value_of_sweep_summary(row, kChannels), status_word(row), seconds_word(row));
    out += row.run->repeat > 0 ? fmt::format(" {}\n", row.run->repeat) : "\n";
    if (i + 1 == rows.size() || value_of_sweep_summary(rows[i + 1], kThreads) != threads)
      out += "\n";
  }
  return out;
}

std::string pair_rows(const std::vector<SummaryRow>& rows) {
  std::string out = fmt::format("{:<20} {:<10} {:<15} {:<10}\n", "CONFIGURATION", "CU_COUNT",
                                "THREADS", "STATUS");
  out += std::string(64, '-') + "\n";
  for (const SummaryRow& row : rows)
    out += fmt::format("{:<20} {:<10} {:<15} {:<10} (duration: {}s)\n", row.run->label,
                       value_of_sweep_summary(row, kCus), value_of_sweep_summary(row, kThreads),
                       status_word(row), seconds_word(row));
  return out + "\n";
}

std::string other_rows(const std::vector<SummaryRow>& rows) {
  std::size_t width = 13;
  for (const SummaryRow& row : rows)
    width = std::max(width, row.run->label.size());
  std::string out =
      fmt::format("{:<{}} {:<10} {:<15}\n", "CONFIGURATION", width, "STATUS", "DURATION(s)");
  out += std::string(width + 27, '-') + "\n";
  for (const SummaryRow& row : rows)
    out += fmt::format("{:<{}} {:<10} {:<15}\n", row.run->label, width, status_word(row),
                       seconds_word(row));
  return out + "\n";
}

} // namespace

std::string log_name(SweepKind kind, const std::string& timestamp) {
  return fmt::format("{}_{}.log",
                     kind == SweepKind::kThreadsChannels ? "nccl_thread_sweep"
                     : kind == SweepKind::kCuPairs       ? "rccl_warp_speed_comparison"
                                                         : "sweep",
                     timestamp);
}

std::string summary_name(SweepKind kind, const std::string& timestamp) {
  return fmt::format("{}_summary_{}.txt",
                     kind == SweepKind::kThreadsChannels ? "nccl_thread_sweep"
                     : kind == SweepKind::kCuPairs       ? "rccl_warp_speed"
                                                         : "sweep",
                     timestamp);
}

std::string default_folder(SweepKind kind, const std::string& timestamp) {
  return fmt::format("experiments/{}_{}", kind == SweepKind::kCuPairs ? "rccl_warp_speed" : "sweep",
                     timestamp);
}

std::string sweep_timestamp(std::chrono::system_clock::time_point time) {
  return local_text(time, "%Y%m%d_%H%M%S");
}

SweepLog::SweepLog(const std::string& path)
    : file_(is_input(path) ? nullptr : std::fopen(path.c_str(), "ae")) {}

SweepLog::~SweepLog() {
  if (file_ != nullptr)
    std::fclose(file_);
}

void SweepLog::line(std::string_view text) {
  if (file_ == nullptr)
    return;
  std::string safe(text);
  for (char& c : safe)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  const std::string stamped = fmt::format(
      "[{}] {}\n", local_text(std::chrono::system_clock::now(), "%Y-%m-%d %H:%M:%S"), safe);
  std::fputs(stamped.c_str(), file_);
  std::fflush(file_);
}

std::string summary_text(SweepKind kind, const std::string& folder,
                         const std::vector<SummaryRow>& rows,
                         const std::vector<std::string>& findings,
                         std::chrono::system_clock::time_point now) {
  std::string out = kind == SweepKind::kThreadsChannels ? "NCCL Thread/Channel Sweep Summary\n"
                    : kind == SweepKind::kCuPairs       ? "RCCL Warp Speed Comparison Summary\n"
                                                        : "Sweep Summary\n";
  out += fmt::format("Generated: {}\n\n", local_text(now, "%a %b %e %H:%M:%S %Z %Y"));
  out += kind == SweepKind::kThreadsChannels ? grid_rows(rows)
         : kind == SweepKind::kCuPairs       ? pair_rows(rows)
                                             : other_rows(rows);
  out += "Output directories:\n";
  std::string group;
  for (const SummaryRow& row : rows) {
    if (kind == SweepKind::kThreadsChannels && value_of_sweep_summary(row, kThreads) != group) {
      group = value_of_sweep_summary(row, kThreads);
      out += fmt::format("  THREADS={}:\n", group);
    }
    out += fmt::format("{}- {}/\n", kind == SweepKind::kThreadsChannels ? "    " : "  ",
                       row.run->folder.starts_with(folder + "/") ? row.run->folder
                                                                 : row.setting->folder);
  }
  if (kind == SweepKind::kCuPairs) {
    out += "\nTorch profiler directories:\n";
    for (const SummaryRow& row : rows)
      out += fmt::format("  - {}/torch_profiler/\n", row.run->folder);
  }
  std::string notes;
  for (const SummaryRow& row : rows)
    if (row.outcome) {
      if (!row.outcome->problem.empty())
        notes += fmt::format("  - {}: {}\n", row.run->label, row.outcome->problem);
      for (const std::string& finding : row.outcome->findings)
        notes += fmt::format("  - {}: {}\n", row.run->label, finding);
    }
  if (!notes.empty())
    out += "\nRuns with problems:\n" + notes;
  if (!findings.empty()) {
    out += "\nFindings:\n";
    for (const std::string& finding : findings)
      out += fmt::format("  - {}\n", finding);
  }
  return out;
}

} // namespace rankscope
