// The use case behind `rankscope export --parquet`: writes the records of runs as a dataset of
// Parquet files, FOLDER/TABLE/run=RUN/node=NODE/FILE.parquet. Each rank is parsed once, written and
// released.
#pragma once

#include "app/run_tables.h"
#include "base/result.h"
#include "engine/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

struct ExportRequest {
  RunTablesRequest traces;
  std::string folder;
  std::vector<std::string> tables; ///< from export_tables(); empty = all
  bool replace = false;            ///< replace runs that the dataset already has
};

struct ExportResult {
  std::vector<std::string> files; ///< written files, sorted
  std::int64_t rows = 0;
  std::uint64_t bytes = 0, input_bytes = 0; ///< of the files; of the uncompressed traces
  std::size_t ranks = 0;
};

/// Returns the table names: events, kernels, operators (one file per rank), collectives, steps,
/// ranks, idle (one file per node, sorted by rank).
[[nodiscard]] const std::vector<std::string>& export_tables();

/// Errors: kMissingTool without DuckDB's library; kUsage if the dataset already has a run and
/// `replace` is not set; kOutput; kUnreadable if no rank could be read.
Result<ExportResult> export_dataset(Session& session, const ExportRequest& request);

/// Encodes a value for the name of a Hive partition: bytes other than letters, digits, - . _ become
/// %XX.
[[nodiscard]] std::string hive_value(std::string_view value);

} // namespace rankscope
