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
  std::optional<double> seconds;                ///< of the command
  std::optional<double> joules;                 ///< of the GPUs that it sampled, together
  std::optional<std::int64_t> peak_vram_b;      ///< the largest of one of them
  std::optional<std::int64_t> begin_ns, end_ns; ///< in Unix time
  std::string problem;
  bool samples = false; ///< it has gpu_samples.csv

  [[nodiscard]] bool known() const { return problem.empty(); }
};

struct ProfiledRanks {
  std::vector<ProfiledRank> ranks; ///< by number, those without at the end
  std::size_t succeeded = 0;
  std::optional<double> wall_s; ///< from the first begin to the last end, by the hosts' clocks
  std::optional<double> longest_s, shortest_s; ///< of the commands
  /// Each GPU (host and address) once: ranks of a host may have sampled the same ones, then the
  /// largest value counts.
  std::optional<double> joules;
  std::size_t gpus = 0; ///< that were sampled
  std::optional<std::int64_t> peak_vram_b;
  std::vector<ProfileFact> facts; ///< to be reported
};

/// The ranks in `folders`: each a run's folder, or one with folders rank_N. Errors: kUnreadable
/// for a folder with neither; kUsage for a rank that occurs twice. A rank whose manifest is
/// missing or damaged stays in the list with the problem.
Result<ProfiledRanks> merge_ranks(const std::vector<std::string>& folders);

/// Returns the manifest of all ranks together: format rankscope-profile-ranks-1.
/// `findings`: those of its facts.
[[nodiscard]] Json merged_json(const ProfiledRanks& run, std::span<const Finding> findings);
/// A line per rank, the sum, findings.
[[nodiscard]] std::string merged_text(const ProfiledRanks& run, std::span<const Finding> findings);

/// manifest.json, summary.txt and, where ranks have samples, gpu_samples.csv with the rank in front
/// of each row, into `out`. Errors: kOutput, kUnreadable; kUsage when `out` has the manifest of a
/// run and not of ranks.
Result<void> write_merged(const ProfiledRanks& run, std::span<const Finding> findings,
                          const std::string& out);

} // namespace rankscope
