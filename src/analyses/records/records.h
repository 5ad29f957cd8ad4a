// Records: the content of a trace as rows, for SQL and Parquet. Times are integer nanoseconds on
// the clock of the trace's file. Rows are views: they are made when they are read.
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

/// Where the records of a rank belong.
struct RecordPlace {
  std::string run; ///< configuration, or the run's folder
  std::int64_t rank = 0;
  std::int64_t node = 0; ///< rank / GPUs per node
};

/// A rank's trace with what its records share.
struct RecordTrace {
  RecordPlace place;
  std::shared_ptr<const LoadedTrace> trace;
  std::vector<ProfilerStep> steps;
  /// All except Python frames; empty in traces without frames.
  std::vector<EventId> without_frames;
  std::vector<EventId> gpu;        ///< kernels, copies and fills, file order; need the call tree
  std::vector<EventId> operators;  ///< cpu_op events, file order
  std::vector<bool> communication; ///< by StrId: name of a collective kernel
  std::vector<bool> copies;        ///< by StrId: name of a kernel that copies (is_legacy_copy())
};
/// `linked`: the trace has its call tree, so that kernels and operators may be asked for.
[[nodiscard]] RecordTrace record_trace(RecordPlace place, std::shared_ptr<const LoadedTrace> trace,
                                       bool linked);

/// An event of a trace; valid as long as the RecordTrace.
struct EventRecord {
  const RecordTrace* of = nullptr;
  EventId event = kNoEvent;
};
/// events: every event of the trace except Python frames. Needs no call tree.
[[nodiscard]] const Schema<EventRecord>& event_record_schema();
/// kernels: GPU work, with what launched it.
[[nodiscard]] const Schema<EventRecord>& kernel_record_schema();
/// operators: cpu_op events with their arguments and the GPU work below them.
[[nodiscard]] const Schema<EventRecord>& operator_record_schema();

/// A profiler step of a rank, its GPU work by kind as gpu_timeline of the step has it.
struct StepRecord {
  RecordPlace place;
  std::int64_t step = 0, start_ns = 0, dur_ns = 0;
  std::optional<KindTimes> ns; ///< none: no GPU work in it
};
[[nodiscard]] std::vector<StepRecord> step_records(const LoadedTrace& trace,
                                                   const RecordPlace& place);
[[nodiscard]] const Schema<StepRecord>& step_record_schema();

/// A rank: its trace metadata, and its GPU's time by kind as in gpu_timeline.
struct RankRecordRow {
  RecordPlace place;
  std::string path, vendor, device, backend;
  std::optional<std::int64_t> world_size, base_time_ns;
  std::int64_t events = 0, gpu_events = 0, linked = 0, steps = 0, input_bytes = 0;
  KindTimes ns{};
};
[[nodiscard]] RankRecordRow rank_record(const LoadedTrace& trace, const RecordPlace& place);
[[nodiscard]] const Schema<RankRecordRow>& rank_record_schema();

/// Idle time of a rank's GPU by cause.
struct IdleRecord {
  RecordPlace place;
  IdleCause cause = IdleCause::kUnknown;
  std::int64_t idle_ns = 0, gaps = 0, total_ns = 0; ///< total: gpu_timeline's total_time
};
[[nodiscard]] std::vector<IdleRecord> idle_records(const LoadedTrace& trace,
                                                   const RecordPlace& place);
[[nodiscard]] const Schema<IdleRecord>& idle_record_schema();

/// A collective kernel on one rank, with the results of its match over the ranks.
struct CollectiveRecord {
  const std::string* run = nullptr;
  std::int64_t node = 0;
  const CollectiveKernel* kernel = nullptr;
};
[[nodiscard]] const Schema<CollectiveRecord>& collective_record_schema();

/// A statement about a run.
struct FindingRecord {
  std::string run;
  std::int64_t number = 0;
  Finding finding;
};
[[nodiscard]] const Schema<FindingRecord>& finding_record_schema();

/// Returns the options for counting records: the same as for `top`, so that the values agree.
[[nodiscard]] ReportOptions record_options();

/// All tables of records, for the dictionary of columns.
[[nodiscard]] std::vector<SheetInfo> record_sheets();

} // namespace rankscope
