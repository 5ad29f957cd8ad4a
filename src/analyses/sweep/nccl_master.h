// nccl_master_all_configs (docs/reference/sweep-files.md 6): the collectives of all configurations
// of a sweep in one table.
#pragma once

#include "analyses/collectives/exposed_waits.h"
#include "analyses/compare/compared_run.h"
#include "core/run.h"
#include "core/schema.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// The synchronising collectives of a configuration.
struct ConfigurationCollectives {
  Configuration configuration;
  std::string source_file; ///< name of the configuration's collective report
  std::vector<SyncSummary> summary;
  std::map<CollectiveKey, CollectiveSamples> samples;
  ExposedWaits exposed = {};
  std::int64_t per_node = 0; ///< GPUs per node; 0 = unknown
};

/// One row of the table. Refers to the configuration list that it was made from.
struct NcclMasterRow {
  const ConfigurationCollectives* collectives = nullptr;
  const SyncSummary* summary = nullptr;
  std::string operation_id;   ///< "OP_03": ordered by size, then collective and data type
  std::string operation_name; ///< "medium_1.50MB": the size class and size
  std::string thread_config, channel_config;
};

/// Returns rows ordered by size, by collective and data type, and by threads and channels.
[[nodiscard]] std::vector<NcclMasterRow>
nccl_master_rows(const std::vector<ConfigurationCollectives>& configurations);
/// Returns the documented columns, followed by the process group and the columns that only
/// rankscope has.
[[nodiscard]] Schema<NcclMasterRow> nccl_master_schema();
[[nodiscard]] Table nccl_master(const std::vector<ConfigurationCollectives>& configurations);

} // namespace rankscope
