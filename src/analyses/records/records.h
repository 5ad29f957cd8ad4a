// Records: the content of a trace as rows, for SQL and Parquet. Times are integer nanoseconds on
// the clock of the trace file. Rows are views that are created when they are read.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_facts.h"
#include "analyses/timeline/gpu_timeline.h"
#include "analyses/timeline/idle_causes.h"
#include "core/finding.h"
#include "core/loaded_trace.h"
#include "core/schema.h"
#include "core/steps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The run, rank and node that records belong to.
struct RecordPlace {
  std::string run; ///< configuration, or the run's folder
  std::int64_t rank = 0;
  std::int64_t node = 0; ///< rank / GPUs per node
};

/// A rank's trace with the data that its records share.
struct RecordTrace {
  RecordPlace place;
  std::shared_ptr<const LoadedTrace> trace;
  StepsOfGpuWork steps;
  /// All events except Python frames; empty if the trace has no frames.
  std::vector<EventId> without_frames;
  std::vector<EventId> gpu; ///< kernels, copies and fills in file order; requires the call tree
  std::vector<EventId> operators;  ///< cpu_op events, file order
  std::vector<bool> communication; ///< by StrId: true for the name of a collective kernel
  /// True for the name of a kernel that copies (is_legacy_copy()), by StrId.
  std::vector<bool> copies;
};
/// Returns the shared data of a trace. `linked`: the trace has its call tree, so that kernels and
/// operators can be requested.
[[nodiscard]] RecordTrace record_trace(RecordPlace place, std::shared_ptr<const LoadedTrace> trace,
                                       bool linked);

/// An event of a trace; valid as long as the RecordTrace.
struct EventRecord {
  const RecordTrace* data = nullptr;
  EventId event = kNoEvent;
};
/// Returns the schema of events: every event of the trace except Python frames. Requires no call
/// tree.
[[nodiscard]] const Schema<EventRecord>& event_record_schema();
/// Returns the schema of kernels: GPU work with its launching call.
[[nodiscard]] const Schema<EventRecord>& kernel_record_schema();
/// Returns the schema of operators: cpu_op events with their arguments and the GPU work below them.
[[nodiscard]] const Schema<EventRecord>& operator_record_schema();

/// A profiler step of a rank, with its GPU work by kind as in the gpu_timeline of the step.
struct StepRecord {
  RecordPlace place;
  std::int64_t step = 0, start_ns = 0, dur_ns = 0;
  std::optional<KindTimes> ns; ///< empty if the step has no GPU work
};
[[nodiscard]] std::vector<StepRecord> step_records(const LoadedTrace& trace,
                                                   const RecordPlace& place);
[[nodiscard]] const Schema<StepRecord>& step_record_schema();

/// A rank with its trace metadata and its GPU time by kind as in gpu_timeline.
struct RankRecordRow {
  RecordPlace place;
  std::string path, vendor, device, backend;
  std::optional<std::int64_t> world_size, base_time_ns;
  std::int64_t events = 0, gpu_events = 0, linked = 0, steps = 0, input_bytes = 0;
  KindTimes ns{};
};
[[nodiscard]] RankRecordRow rank_record(const LoadedTrace& trace, const RecordPlace& place);
[[nodiscard]] const Schema<RankRecordRow>& rank_record_schema();

/// Idle time of a rank's GPU with one cause.
struct IdleRecord {
  RecordPlace place;
  IdleCause cause = IdleCause::kUnknown;
  std::int64_t idle_ns = 0, gaps = 0, total_ns = 0; ///< total_ns: total_time of gpu_timeline
};
[[nodiscard]] std::vector<IdleRecord> idle_records(const LoadedTrace& trace,
                                                   const RecordPlace& place);
[[nodiscard]] const Schema<IdleRecord>& idle_record_schema();

/// A collective kernel on one rank, with the results of matching it over the ranks.
struct CollectiveRecord {
  const std::string* run = nullptr;
  std::int64_t node = 0;
  const CollectiveKernel* kernel = nullptr;
};
[[nodiscard]] const Schema<CollectiveRecord>& collective_record_schema();

/// A finding of a run.
struct FindingRecord {
  std::string run;
  std::int64_t number = 0;
  Finding finding;
};
[[nodiscard]] const Schema<FindingRecord>& finding_record_schema();

/// Returns all tables of records, for the dictionary of columns.
[[nodiscard]] std::vector<SheetInfo> record_sheets();

} // namespace rankscope
