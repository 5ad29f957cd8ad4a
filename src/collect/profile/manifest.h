// manifest.json and summary.txt of a profiling run.
#pragma once

#include "collect/profile/run.h"
#include "core/finding.h"

#include <span>
#include <string>

namespace rankscope {

struct RunIdentity {
  std::string run_id;
  std::string model; ///< "" = a command
  std::string image; ///< of the container; "" = local
  int rank = -1;     ///< -1 = none
  std::vector<std::string> notes;
};

/// "20261122-013501-4711": local time and process.
[[nodiscard]] std::string make_run_id();

/// The rank of this process as its launcher says: SLURM_PROCID, RANK, OMPI_COMM_WORLD_RANK or
/// PMI_RANK; -1 = none does.
[[nodiscard]] int launcher_rank(const EnvPairs& environment);

/// `findings`: those of the facts of plan and result.
[[nodiscard]] Json manifest_json(const RunIdentity& identity, const RunRequest& request,
                                 const RunResult& result, std::span<const Finding> findings);
[[nodiscard]] std::string summary_text(const RunIdentity& identity, const RunRequest& request,
                                       const RunResult& result, std::span<const Finding> findings);

/// Writes both into the run's folder. Errors: kOutput.
Result<void> write_manifest(const RunIdentity& identity, const RunRequest& request,
                            const RunResult& result, std::span<const Finding> findings);

/// Copies what tools of the guide write to its names below `folder` (rocprof_output/...,
/// library_trace.csv). Errors: kOutput.
Result<void> place_legacy_names(const RunResult& result, const std::string& folder);

} // namespace rankscope
