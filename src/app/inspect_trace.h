// The content of a trace, before anything is analysed.
#pragma once

#include "base/result.h"
#include "core/loaded_trace.h"
#include "core/report.h"
#include "core/schema.h"
#include "engine/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A property of the trace, in words.
struct TraceFact {
  std::string name;
  std::string value;
};

struct CategoryCount {
  Category category = Category::kOther;
  std::uint64_t events = 0;
};

/// The properties of the trace as numbers, for programs; values that the file lacks are blank.
struct TraceMetrics {
  std::string file, vendor, device, backend;
  std::int64_t devices = 0;
  std::optional<std::int64_t> rank, world_size, base_time_ns, span_ns;
  std::int64_t steps = 0, input_bytes = 0, memory_bytes = 0;
  std::int64_t events_in_file = 0, events = 0, python_events_skipped = 0, counters = 0;
  std::int64_t gpu_events = 0, linked = 0;
  std::int64_t overlaps = 0, overlap_ns = 0; ///< overlaps of GPU work on the same stream
};

/// Returns file, vendor, ranks, steps, span and sizes; leaves out facts that the file lacks.
[[nodiscard]] std::vector<TraceFact> trace_facts(const LoadedTrace& trace);
/// Returns the number of loaded events of each category that occurs.
[[nodiscard]] std::vector<CategoryCount> category_counts(const Trace& trace);

[[nodiscard]] Schema<TraceFact> trace_fact_schema();
[[nodiscard]] Schema<CategoryCount> category_count_schema();
[[nodiscard]] TraceMetrics trace_metrics(const LoadedTrace& trace);
/// Returns the schema of `figures`, a table of one row.
[[nodiscard]] Schema<TraceMetrics> trace_metrics_schema();

/// Loads a trace ("-": standard input) and describes it in the tables `trace`, `events` and
/// `figures`; adds its diagnostics to the session. Errors: kUnreadable.
Result<Report> inspect_trace(Session& session, const std::string& path);

} // namespace rankscope
