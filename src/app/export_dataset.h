// The use case behind `rankscope export --parquet`: the records of runs as a dataset of Parquet
// files, FOLDER/TABLE/run=RUN/node=NODE/FILE.parquet. Each rank is parsed once, written and
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
  std::vector<std::string> tables; ///< of export_tables(); empty = all
  bool replace = false;            ///< runs that the dataset has already
};

struct ExportResult {
  std::vector<std::string> files; ///< that were written, sorted
  std::int64_t rows = 0;
  std::uint64_t bytes = 0, input_bytes = 0; ///< of the files; of the traces, unpacked
  std::size_t ranks = 0;
};

/// events, kernels, operators (a file for each rank), collectives, steps, ranks, idle (a file for
/// each node, sorted by rank).
[[nodiscard]] const std::vector<std::string>& export_tables();

/// Errors: kMissingTool without DuckDB's library; kUsage for a run that the dataset has, unless it
/// is to be replaced; kOutput; kUnreadable when no rank could be read.
Result<ExportResult> export_dataset(Session& session, const ExportRequest& request);

/// A value in the name of a Hive partition: bytes other than letters, digits, - . _ as %XX.
[[nodiscard]] std::string hive_value(std::string_view value);

} // namespace rankscope
