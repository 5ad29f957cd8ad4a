#include "app/replayed_trace.h"

#include "core/trace_builder.h"
#include "writers/merged_trace.h"

#include <algorithm>

namespace rankscope {
namespace {

/// An event of the replayed run. The arrival at a collective and its transfer, which are separate
/// nodes of the graph, are one event.
struct ReplayedEvent {
  std::int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
};

/// Returns the replayed events, indexed by rank and by node of the rank.
std::vector<std::vector<ReplayedEvent>> replayed_events(const JobRun& run, const JobEdit& edit) {
  const std::vector<std::int64_t> start = replay_starts(run.graph, edit);
  // the time to add to each event of a step, and to those after the last step
  std::vector<std::int64_t> move(run.steps() + 1, 0);
  if (!run.step_begin_ns.empty()) {
    const std::vector<std::int64_t> ends = step_ends(run, edit, start);
    std::int64_t next = 0;
    for (std::size_t k = 0; k < run.steps(); ++k) {
      move[k] = next - run.step_begin_ns[k];
      next += ends[k] - run.step_begin_ns[k];
    }
  }
  std::vector<std::vector<ReplayedEvent>> out;
  for (const RankGraph& rank : run.ranks)
    out.emplace_back(rank.nodes.size());
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    const std::int64_t shift_ns = move[run.step_of(n)];
    ReplayedEvent& event = out[run.rank_of[n]][run.local_of[n]];
    if (run.role[n] == NodeRole::kMeeting)
      continue;
    event.start_ns = std::min(event.start_ns, start[n] + shift_ns);
    if (run.is_activity(n))
      event.end_ns = start[n] + edit.dur_ns[n] + shift_ns;
  }
  return out;
}

Category category_of(ActivityKind kind) {
  switch (kind) {
  case ActivityKind::kHost:
    return Category::kUserAnnotation;
  case ActivityKind::kCall:
    return Category::kRuntime;
  case ActivityKind::kCopy:
    return Category::kGpuMemcpy;
  case ActivityKind::kSet:
    return Category::kGpuMemset;
  default:
    return Category::kKernel;
  }
}

Result<Trace> trace_of(const RankGraph& rank, const std::vector<ReplayedEvent>& events,
                       const std::string& path) {
  TraceBuilder builder(path);
  std::vector<std::uint32_t> tracks;
  for (const RankLine& line : rank.lines)
    tracks.push_back(builder.track({line.device, line.id}));
  for (NodeId n = 0; n < events.size(); ++n) {
    const RankNode& node = rank.nodes[n];
    const Activity& activity = rank.activity(n);
    // host time between two calls has no name
    if (activity.kind == ActivityKind::kHost && activity.name == kEmptyStr)
      continue;
    EventRow row;
    row.ts_ns = events[n].start_ns;
    row.dur_ns = std::max<std::int64_t>(0, events[n].end_ns - events[n].start_ns);
    row.name = builder.text(rank.text(activity.name));
    row.track = tracks[node.line];
    row.category = category_of(activity.kind);
    if (rank.lines[node.line].stream) {
      row.stream = static_cast<std::int32_t>(rank.lines[node.line].id);
      row.device = static_cast<std::int16_t>(rank.lines[node.line].device);
    }
    row.uid = n;
    builder.add(row);
  }
  return std::move(builder).finish();
}

} // namespace

Result<void> write_replayed(const JobRun& run, const JobEdit& edit, const std::string& path,
                            Diagnostics& diagnostics) {
  RS_TRY(MergedTraceWriter writer, MergedTraceWriter::create(path, {}));
  const std::vector<std::vector<ReplayedEvent>> events = replayed_events(run, edit);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    RS_TRY(const Trace trace, trace_of(run.ranks[r], events[r], path));
    writer.add(trace, run.ranks[r].rank, {}, diagnostics);
  }
  RS_TRY([[maybe_unused]] const MergeSummary summary, writer.finish());
  return {};
}

} // namespace rankscope
