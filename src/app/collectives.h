// The use case behind `rankscope collectives`: the collectives of all ranks of a run, from files to
// the report.
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
  std::vector<std::string> inputs; ///< folders of rank traces, or the files
  DiscoverOptions discover;
  CollectiveOptions options;
  std::size_t world_size = 0;     ///< ranks that there should be; 0 = not said
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
  ReportOutputs outputs;
  bool default_workbook = false;  ///< without file and csv_dir: FOLDER/nccl_analysis_report.xlsx
  std::size_t held_rows = 50'000; ///< a table with more is made while it is written
};

struct CollectivesResult {
  std::size_t ranks = 0;
  std::unique_ptr<ByteStore> store;         ///< of the rows
  std::unique_ptr<CollectiveStream> stream; ///< what the facts and the streams refer to
  CollectiveFacts facts;                    ///< without the lists that CollectiveStream leaves out
  std::vector<Finding> findings;
  Report report;
  RowStreams streams;               ///< of its long tables
  std::vector<std::string> written; ///< files and folders
};

/// Says that a run lacks ranks, as data loss.
void name_too_few(Session& session, const RunPlan& plan, std::size_t world_size);

/// Which file is which rank. Fewer ranks than the world size are data loss. Errors: those of
/// check_outputs() and discover_run().
Result<RunPlan> plan_collectives(Session& session, const CollectivesRequest& request);

/// Reads the ranks once, several at a time, and writes what is asked for. A broken rank is left out
/// and named. Errors: kUnreadable when no rank or no collective is left, kOutput.
Result<CollectivesResult> collect_collectives(Session& session, const RunPlan& plan,
                                              const CollectivesRequest& request);

} // namespace rankscope
