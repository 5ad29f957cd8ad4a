// OutputLayout: makes all names of output files of analyze and compare, and finds earlier outputs.
// A sweep of threads and channels has the documented names:
//   <T>thread/individual_reports/perf_<C>ch_rank<r>.xlsx
//   <T>thread/collective_reports/collective_<C>ch.xlsx
// Any other configuration has a separate folder:
//   <label>/individual_reports/perf_rank<r>.xlsx
//   <label>/collective_reports/collective_all_ranks.xlsx
// A single run has the same names without <label>.
#pragma once

#include "core/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// An earlier report of one rank. The parameters of its configuration are read from its file and
/// folder names.
struct SavedReport {
  RunKey key;
  std::string path; ///< a workbook or a folder of CSV files
};

/// The three tables about the variance of GEMM times. The names of the second and third begin with
/// the name of the first.
enum class GemmTable { kVariance, kTimestamps, kOverlap };

class OutputLayout {
public:
  /// `folder` is the folder of all outputs except the merged traces.
  explicit OutputLayout(std::string folder) : folder_(std::move(folder)) {}

  /// Paths for one configuration. The configuration of a single run has an empty label and no
  /// separate folder.
  [[nodiscard]] std::string individual_report(const RunKey& key) const;
  [[nodiscard]] std::string collective_report(const Configuration& configuration) const;
  [[nodiscard]] std::string individual_folder(const Configuration& configuration) const;
  [[nodiscard]] std::string collective_folder(const Configuration& configuration) const;
  /// Returns the path of the state of a configuration, which the next `analyze` reuses.
  [[nodiscard]] std::string state(const Configuration& configuration) const;

  // Paths for the complete sweep.
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

  /// Returns the earlier reports that have the documented names of a sweep of threads and channels:
  /// workbooks and folders of CSV files (..._csv). Sorted by threads, channels, rank and path.
  [[nodiscard]] std::vector<SavedReport> saved_sweep_reports() const;
  /// Returns the folder that contains the individual (collective) reports of a single run. It is
  /// searched in `folder` and in its subfolder tracelens_analysis. If it is in neither, it is
  /// searched in their subfolders, of which only one may contain it. Returns "" if there are no
  /// reports.
  [[nodiscard]] std::string saved_individual_folder() const;
  [[nodiscard]] std::string saved_collective_folder() const;
  /// Returns the individual reports of a single run (workbooks and folders), sorted by name. Names
  /// without a rank are left out.
  [[nodiscard]] std::vector<SavedReport> saved_run_reports() const;
  /// Returns the collective reports of a single run, sorted by name.
  [[nodiscard]] std::vector<std::string> saved_collective_reports() const;
  /// Returns the first file by name that contains this table, for any top k. Returns "" if there is
  /// none.
  [[nodiscard]] std::string saved_gemm_csv(GemmTable table) const;

private:
  [[nodiscard]] std::string base_of(const Configuration& configuration) const;
  [[nodiscard]] std::string saved_folder(std::string_view name) const;

  std::string folder_;
};

/// Returns whether the documented names for threads and channels can be used: the configuration has
/// only these two parameters, and the label that is made from them. Otherwise two configurations
/// could overwrite each other.
[[nodiscard]] bool has_sweep_names(const Configuration& configuration);

/// Returns "256thread_28ch", "56cu_256threads", or `folder` with / replaced by _.
[[nodiscard]] std::string configuration_label(const Configuration& configuration,
                                              std::string_view folder);

/// Returns <label>_merged.json, with / replaced by _. If the configuration has no label, "run" is
/// used.
[[nodiscard]] std::string merged_trace_name(const Configuration& configuration);
inline constexpr std::string_view kMergedFolder = "merged_traces";
inline constexpr std::string_view kAnalysisFolder = "tracelens_analysis";

/// Returns "top<k>_gemm_kernels_time_variance[...]", the name of a table. With .csv it is the name
/// of its file.
[[nodiscard]] std::string gemm_table_name(std::size_t top_k, GemmTable table);

/// Returns the number that follows the last "rank" in a name (perf_rank3.xlsx,
/// perf_28ch_rank_3.xlsx), or nullopt if the name contains no such number.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(std::string_view name);

} // namespace rankscope
