// OutputLayout: makes and reads back every output name of analyze and compare. A sweep of threads
// and channels has the documented folders:
//   <T>thread/individual_reports/perf_<C>ch_rank<r>.xlsx
//   <T>thread/collective_reports/collective_<C>ch.xlsx
// Any other configuration has a separate folder:
//   <label>/individual_reports/perf_rank<r>.xlsx
//   <label>/collective_reports/collective_all_ranks.xlsx
// A single run has these names without <label>.
#pragma once

#include "core/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A report of one rank found among earlier outputs. Its configuration has the parameters from the
/// file and folder names.
struct SavedReport {
  RunKey key;
  std::string path; ///< a workbook or a folder of CSV files
};

/// The three tables of GEMM variance. The names of the other two extend the name of the first.
enum class GemmTable { kVariance, kTimestamps, kOverlap };

class OutputLayout {
public:
  /// `folder` contains all outputs except the merged traces.
  explicit OutputLayout(std::string folder) : folder_(std::move(folder)) {}

  /// Paths of a configuration. A configuration with an empty label (a single run) has no separate
  /// folder.
  [[nodiscard]] std::string individual_report(const RunKey& key) const;
  [[nodiscard]] std::string collective_report(const Configuration& configuration) const;
  [[nodiscard]] std::string individual_folder(const Configuration& configuration) const;
  [[nodiscard]] std::string collective_folder(const Configuration& configuration) const;
  /// Returns the path of a configuration's state, which analyze reuses the next time.
  [[nodiscard]] std::string state(const Configuration& configuration) const;

  // Paths of the sweep.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string state_folder() const { return folder_ + "/.rankscope"; }
  [[nodiscard]] std::string sweep_state() const { return state_folder() + "/sweep.part"; }
  [[nodiscard]] std::string comparisons() const { return folder_ + "/comparisons"; }
  [[nodiscard]] std::string comparison(std::int64_t channels, std::int64_t rank) const;
  [[nodiscard]] std::string timeline_all_configs(std::string_view aggregation) const;
  [[nodiscard]] std::string gemm_csv(std::size_t top_k, GemmTable table) const;
  [[nodiscard]] std::string nccl_master_workbook() const;
  [[nodiscard]] std::string nccl_master_csv() const;
  [[nodiscard]] std::string summary_workbook() const { return folder_ + "/summary.xlsx"; }
  [[nodiscard]] std::string summary_csv() const { return folder_ + "/summary_csv"; }
  [[nodiscard]] std::string summary_markdown() const { return folder_ + "/summary.md"; }
  [[nodiscard]] std::string plots() const { return folder_ + "/plots"; }
  [[nodiscard]] std::string page() const { return folder_ + "/sweep_report.html"; }
  [[nodiscard]] std::string manifest() const { return folder_ + "/manifest.json"; }

  /// Returns the reports in the documented folders of a sweep of threads and channels, also folders
  /// of CSV files (..._csv). Sorted by threads, channels, rank and path.
  [[nodiscard]] std::vector<SavedReport> saved_sweep_reports() const;
  /// Returns the folder with the reports of a single run: here or in tracelens_analysis below,
  /// either directly or in the only subfolder with reports. Empty without reports.
  [[nodiscard]] std::string saved_individual_folder() const;
  [[nodiscard]] std::string saved_collective_folder() const;
  /// Returns the single run's reports, workbooks and folders, by name. Names without a rank are
  /// left out.
  [[nodiscard]] std::vector<SavedReport> saved_run_reports() const;
  /// Returns the single run's collective reports, by name.
  [[nodiscard]] std::vector<std::string> saved_collective_reports() const;
  /// Returns the first table of that kind by name, for any top k. Empty without such a table.
  [[nodiscard]] std::string saved_gemm_csv(GemmTable table) const;

private:
  [[nodiscard]] std::string base_of(const Configuration& configuration) const;
  [[nodiscard]] std::string saved_folder(std::string_view name) const;

  std::string folder_;
};

/// Returns whether the documented threads-and-channels names fit: only these two parameters, and
/// the label that belongs to them. Otherwise two configurations could overwrite each other.
[[nodiscard]] bool has_sweep_names(const Configuration& configuration);

/// Returns "256thread_28ch", "56cu_256threads", or `folder` with / replaced by _.
[[nodiscard]] std::string configuration_label(const Configuration& configuration,
                                              std::string_view folder);

/// Returns <label>_merged.json with / replaced by _. The label of an unnamed configuration is
/// "run".
[[nodiscard]] std::string merged_trace_name(const Configuration& configuration);
inline constexpr std::string_view kMergedFolder = "merged_traces";
inline constexpr std::string_view kAnalysisFolder = "tracelens_analysis";

/// Returns "top<k>_gemm_kernels_time_variance[...]", the name of a table and, with .csv, of its
/// file.
[[nodiscard]] std::string gemm_table_name(std::size_t top_k, GemmTable table);

/// Returns the number after the last "rank" in a name (perf_rank3.xlsx, perf_28ch_rank_3.xlsx), or
/// nullopt if there is no such number.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(std::string_view name);

} // namespace rankscope
