// The use case behind `rankscope collectives`: reads the collectives of all ranks of a run and
// writes the report.
#pragma once

#include "analyses/collectives/collective_stream.h"
#include "app/write_outputs.h"
#include "base/result.h"
#include "core/report.h"
#include "core/row_stream.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rankscope {

struct CollectivesRequest {
  std::vector<std::string> inputs; ///< folders of rank traces, or trace files
  DiscoverOptions discover;
  CollectiveOptions options;
  std::size_t world_size = 0;     ///< number of ranks expected; 0 = not specified
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
  ReportOutputs outputs;
  /// If file and csv_dir are empty, write FOLDER/nccl_analysis_report.xlsx.
  bool default_workbook = false;
  /// A table with more rows is not stored: its rows are made while they are written.
  std::size_t max_stored_rows = 50'000;
};

struct CollectivesResult {
  std::size_t ranks = 0;
  std::unique_ptr<ByteStore> store;         ///< stores the rows
  std::unique_ptr<CollectiveStream> stream; ///< the facts and the streams refer to it
  CollectiveFacts facts;                    ///< without the lists that CollectiveStream leaves out
  std::vector<Finding> findings;
  Report report;
  RowStreams streams;               ///< streams of the long tables
  std::vector<std::string> written; ///< files and folders
};

/// Adds a diagnostic that the run lacks ranks, as data loss.
void name_too_few(Session& session, const RunPlan& plan, std::size_t world_size);

/// Returns the plan of the run, with the file of each rank. Fewer ranks than the world size are
/// data loss. Errors: those of check_outputs() and discover_run().
Result<RunPlan> plan_collectives(Session& session, const CollectivesRequest& request);

/// Reads the ranks once, several at a time, and writes the requested outputs. A broken rank is left
/// out and named. Errors: kUnreadable if no rank or no collective remains, kOutput.
Result<CollectivesResult> collect_collectives(Session& session, const RunPlan& plan,
                                              const CollectivesRequest& request);

} // namespace rankscope
