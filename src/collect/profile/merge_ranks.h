// Joins the manifests and samples of all ranks of a profiling run. Each rank was profiled
// separately, in OUT/rank_N.
#pragma once

#include "collect/profile/json_value.h"
#include "collect/profile/plan.h"
#include "core/finding.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A rank as its manifest describes it; values that the manifest lacks are empty.
struct ProfiledRank {
  std::optional<std::int64_t> rank;
  std::string folder;
  std::string run_id, host;
  std::string status; ///< success, failure, not run; "no manifest", "unreadable"
  std::optional<std::int64_t> exit_status;
  std::optional<double> seconds;                ///< duration of the command
  std::optional<double> joules;                 ///< energy of all GPUs that the rank sampled
  std::optional<std::int64_t> peak_vram_b;      ///< peak of the GPU that used most memory
  std::optional<std::int64_t> begin_ns, end_ns; ///< in Unix time
  std::string problem;
  bool samples = false; ///< the rank has gpu_samples.csv

  [[nodiscard]] bool known() const { return problem.empty(); }
};

struct ProfiledRanks {
  std::vector<ProfiledRank> ranks; ///< sorted by number, ranks without a number last
  std::size_t succeeded = 0;
  std::optional<double> wall_s; ///< from the first begin of a command to the last end, by the
                                ///< hosts' clocks
  std::optional<double> longest_s, shortest_s; ///< durations of the commands
  /// Total energy; each GPU (host and address) counts once. Ranks of a host may have sampled the
  /// same GPU; then the largest value counts.
  std::optional<double> joules;
  std::size_t gpus = 0; ///< number of sampled GPUs
  std::optional<std::int64_t> peak_vram_b;
  std::vector<ProfileFact> facts; ///< to be reported
};

/// Reads the ranks in `folders`. Each folder is a run's folder or contains folders rank_N. Errors:
/// kUnreadable for any other folder; kUsage for a rank that occurs twice. A rank whose manifest is
/// missing or damaged stays in the list with the problem.
Result<ProfiledRanks> merge_ranks(const std::vector<std::string>& folders);

/// Returns the manifest of all ranks together: format rankscope-profile-ranks-1. `findings` come
/// from the facts of `run`.
[[nodiscard]] Json merged_json(const ProfiledRanks& run, std::span<const Finding> findings);
/// Returns a line per rank, the totals and the findings.
[[nodiscard]] std::string merged_text(const ProfiledRanks& run, std::span<const Finding> findings);

/// Writes manifest.json, summary.txt and, if ranks have samples, gpu_samples.csv into `out`. Each
/// row of samples begins with the rank. Errors: kOutput, kUnreadable; kUsage when `out` has the
/// manifest of a single run.
Result<void> write_merged(const ProfiledRanks& run, std::span<const Finding> findings,
                          const std::string& out);

} // namespace rankscope
