// What analyze keeps of a finished configuration, in memory and on disk, so that a re-run redoes
// only what changed.
#pragma once

#include "analyses/sweep/sweep_summary.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "core/report.h"
#include "readers/discovery.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ConfigResult {
  Configuration configuration;
  std::vector<RankRecord> records;         ///< ascending by rank
  Table gemms;                             ///< overlap table of its ranks, top k each
  std::map<std::int64_t, Report> compared; ///< gpu_timeline and ops_summary by rank
  std::optional<Table> collectives;        ///< nccl_summary_implicit_sync
  std::string collective_file;
  std::vector<std::string> outputs; ///< files of this configuration
  bool whole = true;                ///< no rank and no event was lost
  bool reused = false;              ///< from an earlier run
};

/// What the outputs of a configuration depend on: version, options, and path, size and time of
/// change of every input.
[[nodiscard]] std::string fingerprint_of(const RunPlan& plan, const std::string& options);

/// Errors: kOutput.
Result<void> save_state(const ConfigResult& config, const std::string& fingerprint,
                        const std::string& path);

/// None when there is no state, it is of other inputs, options or another version, or one of its
/// outputs is missing or has another size. An unreadable state is named in `diag`.
[[nodiscard]] std::optional<ConfigResult>
load_state(const std::string& path, const std::string& fingerprint, Diagnostics& diag);

} // namespace rankscope
