// manifest.json and summary.txt of a profiling run.
#pragma once

#include "collect/profile/run.h"
#include "core/finding.h"

#include <span>
#include <string>

namespace rankscope {

struct RunIdentity {
  std::string run_id;
  std::string model; ///< "" = the run is a command
  std::string image; ///< of the container; "" = local
  int rank = -1;     ///< -1 = unknown
  std::vector<std::string> notes;
};

/// Returns local time and process id: "20261122-013501-4711".
[[nodiscard]] std::string make_run_id();

/// Returns the rank of this process from its launcher's variables: SLURM_PROCID, RANK,
/// OMPI_COMM_WORLD_RANK or PMI_RANK; -1 if no variable is set.
[[nodiscard]] int launcher_rank(const EnvPairs& environment);

/// Returns the manifest. `findings` come from the facts of the plan and the result.
[[nodiscard]] Json manifest_json(const RunIdentity& identity, const RunRequest& request,
                                 const RunResult& result, std::span<const Finding> findings);
[[nodiscard]] std::string summary_text(const RunIdentity& identity, const RunRequest& request,
                                       const RunResult& result, std::span<const Finding> findings);

/// Writes the manifest and the summary into the run's folder. Errors: kOutput.
Result<void> write_manifest(const RunIdentity& identity, const RunRequest& request,
                            const RunResult& result, std::span<const Finding> findings);

/// Copies outputs of tools to the names that the guide documents, below `folder`
/// (rocprof_output/..., library_trace.csv). Errors: kOutput.
Result<void> place_legacy_names(const RunResult& result, const std::string& folder);

} // namespace rankscope
