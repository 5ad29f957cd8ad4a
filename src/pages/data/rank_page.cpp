#include "pages/data/rank_page.h"

#include "analyses/operators/launchers.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/display_text.h"
#include "base/sort.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kFewEvents = 1500; ///< per lane: columns would not be smaller

/// Returns a text about a collective: "allreduce BFloat16, 1024 elements, group 0 of 8".
std::string about_collective(const Trace& trace, const CollectiveArgs& args) {
  std::string out(trace.strings.view(args.collective_name));
  if (args.dtype != kEmptyStr)
    out += fmt::format(" {}", trace.strings.view(args.dtype));
  if (args.in_nelems != kNoId)
    out += fmt::format(", {} elements", args.in_nelems);
  if (args.pg_name != kEmptyStr)
    out += fmt::format(", group {}", trace.strings.view(args.pg_name));
  if (args.group_size != kNoId)
    out += fmt::format(" of {}", args.group_size);
  return out;
}

/// Finds the row of unified_perf_summary for a kernel's operator.
class OperatorRows {
public:
  OperatorRows(const LoadedTrace& t, const std::vector<UnifiedRow>& rows) : t_(t), texts_(t.trace) {
    for (std::uint32_t i = 0; i < rows.size(); ++i)
      rows_.emplace(key(rows[i].op.name, {rows[i].op.dims, rows[i].op.types, rows[i].op.strides,
                                          rows[i].op.concrete}),
                    i);
  }

  /// Returns the row of the operator `op`, or of the nearest enclosing operator with a row.
  std::uint32_t row_of(EventId op) {
    std::vector<EventId> path;
    std::uint32_t row = kNoDetail;
    for (EventId at = op; at != kNoEvent && row == kNoDetail; at = t_.tree.parent(at)) {
      const auto known = row_of_event_.find(at);
      if (known != row_of_event_.end()) {
        row = known->second;
        break;
      }
      path.push_back(at);
      row = row_of_call(at);
    }
    for (const EventId at : path)
      row_of_event_.emplace(at, row);
    return row;
  }
  /// Returns the shapes of a call in the short form.
  const std::string& shapes(EventId op) {
    const OpArgs* const args = t_.trace.op(op);
    const StrId dims = args != nullptr ? args->input_dims : kEmptyStr;
    const auto [at, added] = shapes_.try_emplace(dims);
    if (added && dims != kEmptyStr)
      at->second = short_shapes(std::string(texts_.repr(dims)));
    return at->second;
  }

private:
  using Texts = std::array<std::string_view, 4>; ///< dims, types, strides, concrete inputs
  static std::string key(std::string_view name, const Texts& arguments) {
    std::string out(name);
    for (const std::string_view text : arguments) {
      out += '\n';
      out += text;
    }
    return out;
  }
  std::uint32_t row_of_call(EventId at) {
    if (t_.trace.events.category[at] != Category::kCpuOp)
      return kNoDetail;
    const OpArgs* const args = t_.trace.op(at);
    const OpArgs none;
    const OpArgs& a = args != nullptr ? *args : none;
    const auto [known, added] = row_of_key_.try_emplace(
        {t_.trace.events.name[at], a.input_dims, a.input_types, a.input_strides, a.concrete_inputs},
        kNoDetail);
    if (added) {
      const auto row = rows_.find(
          key(t_.trace.name(at), {texts_.repr(a.input_dims), texts_.repr(a.input_types),
                                  texts_.repr(a.input_strides), texts_.repr(a.concrete_inputs)}));
      known->second = row != rows_.end() ? row->second : kNoDetail;
    }
    return known->second;
  }

  const LoadedTrace& t_;
  OpKeyTexts texts_;
  std::unordered_map<std::string, std::uint32_t> rows_;
  std::map<std::array<StrId, 5>, std::uint32_t> row_of_key_; ///< by name and arguments
  std::unordered_map<EventId, std::uint32_t> row_of_event_;
  std::unordered_map<StrId, std::string> shapes_;
};

/// The GPU events of a rank, in the order of the launcher index.
struct GpuWorkList {
  const LauncherIndex& index;
  std::vector<LaneKind> kind; ///< communication as kExposedComm
  IntervalSet computing;
};

GpuWorkList work_of(const LoadedTrace& t, const ReportOptions& options) {
  GpuWorkList out{t.shared(LaunchersKey{options}), {}, {}};
  std::vector<Interval> computing;
  const std::vector<TimelineBucket> work = timeline_buckets_of(t, out.index.gpu, options);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const EventId e = out.index.gpu[i];
    if (work[i] == TimelineBucket::kCompute)
      computing.push_back({t.trace.events.ts_ns[e], t.trace.end_ns(e)});
    out.kind.push_back(work[i] == TimelineBucket::kCompute         ? LaneKind::kCompute
                       : work[i] == TimelineBucket::kCommunication ? LaneKind::kExposedComm
                                                                   : LaneKind::kCopy);
  }
  out.computing = IntervalSet(std::move(computing));
  return out;
}

class Lanes {
public:
  Lanes(const LoadedTrace& t, const GpuWorkList& work, const std::vector<UnifiedRow>& rows,
        const PageDetail& detail, RankPage& out)
      : t_(t), work_(work), detail_(detail), out_(out), rows_(t, rows) {}

  void add_all() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> events_of_stream;
    for (std::size_t i = 0; i < work_.index.gpu.size(); ++i) {
      const EventId e = work_.index.gpu[i];
      events_of_stream[{t_.trace.events.device[e], t_.trace.events.stream[e]}].push_back(i);
    }
    for (auto& [stream, members] : events_of_stream) {
      sort_stably(members,
                  [this](std::size_t a, std::size_t b) { return start_of(a) < start_of(b); });
      PageLane lane;
      lane.device = stream.first;
      lane.stream = stream.second;
      add(members, lane);
      out_.lanes.push_back(std::move(lane));
    }
  }

private:
  [[nodiscard]] std::int64_t start_of(std::size_t i) const {
    return t_.trace.events.ts_ns[work_.index.gpu[i]];
  }

  void add(const std::vector<std::size_t>& members, PageLane& lane) {
    std::vector<LaneEvent> events;
    events.reserve(members.size());
    for (const std::size_t i : members)
      events.push_back({start_of(i), t_.trace.events.dur_ns[work_.index.gpu[i]], work_.kind[i]});
    const Interval span{out_.start_ns, out_.end_ns};
    lane.in_trace = events.size();
    if (events.size() > kFewEvents) {
      lane.columns = lane_columns(events, work_.computing, span, detail_.columns);
      for (const std::uint32_t e : lane.columns->longest)
        lane.longest.push_back(e == kNoLaneEvent
                                   ? kEmptyStr
                                   : out_.texts.intern(t_.trace.name(work_.index.gpu[members[e]])));
    }
    // a lane's share of the event budget is its share of the events
    const std::size_t all = std::max<std::size_t>(work_.index.gpu.size(), 1);
    const auto share = static_cast<double>(events.size()) / static_cast<double>(all);
    const auto most = static_cast<std::size_t>(share * static_cast<double>(detail_.events));
    for (const std::uint32_t e :
         important_events(events, span, std::max(most, kFewEvents), detail_.tiles))
      lane.events.push_back(event_of(members[e], events[e]));
  }

  PageEvent event_of(std::size_t i, const LaneEvent& at) {
    const Trace& trace = t_.trace;
    const EventId e = work_.index.gpu[i];
    PageEvent out;
    out.at = at;
    out.name = out_.texts.intern(trace.name(e));
    if (at.kind == LaneKind::kExposedComm)
      out.hidden_ns = work_.computing.covered(at.start_ns, at.end_ns());
    if (t_.tree.linked(e))
      out.delay_ns = at.start_ns - trace.events.ts_ns[t_.tree.parent(e)];
    const EventId op = work_.index.parent_op[i];
    if (op != kNoEvent) {
      out.op = out_.texts.intern(trace.name(op));
      out.about = out_.texts.intern(rows_.shapes(op));
      out.operator_row = rows_.row_of(op);
    }
    const CollectiveArgs* collective = trace.collective_of(e);
    if (collective == nullptr && op != kNoEvent)
      collective = trace.collective_of(op);
    if (at.kind == LaneKind::kExposedComm && collective != nullptr)
      out.about = out_.texts.intern(about_collective(trace, *collective));
    return out;
  }

  const LoadedTrace& t_;
  const GpuWorkList& work_;
  const PageDetail& detail_;
  RankPage& out_;
  OperatorRows rows_;
};

std::int64_t nearest_rank(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const std::size_t place = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(place, 1) - 1];
}

void add_kernels(const LoadedTrace& t, const GpuWorkList& work, RankPage& out) {
  std::vector<std::uint32_t> place(t.trace.strings.size(), kNoDetail);
  std::vector<std::vector<std::int64_t>> durations;
  for (std::size_t i = 0; i < work.index.gpu.size(); ++i) {
    const EventId e = work.index.gpu[i];
    std::uint32_t& at = place[t.trace.events.name[e]];
    if (at == kNoDetail) {
      at = static_cast<std::uint32_t>(durations.size());
      durations.emplace_back();
      KernelSpread spread;
      spread.name = out.texts.intern(t.trace.name(e));
      spread.kind = work.kind[i];
      out.kernels.push_back(spread);
    }
    durations[at].push_back(t.trace.events.dur_ns[e]);
  }
  for (std::size_t k = 0; k < durations.size(); ++k) {
    std::vector<std::int64_t>& ns = durations[k];
    std::sort(ns.begin(), ns.end());
    KernelSpread& s = out.kernels[k];
    s.count = static_cast<std::int64_t>(ns.size());
    s.sum_ns = std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
    s.min_ns = ns.front();
    s.p25_ns = nearest_rank(ns, 25);
    s.median_ns = nearest_rank(ns, 50);
    s.p75_ns = nearest_rank(ns, 75);
    s.p95_ns = nearest_rank(ns, 95);
    s.max_ns = ns.back();
  }
  sort_stably(out.kernels, std::ranges::greater(), &KernelSpread::sum_ns);
}

void add_operators(const std::vector<UnifiedRow>& rows, RankPage& out) {
  for (const UnifiedRow& row : rows) {
    PageOperator o;
    o.name = row.op.name;
    o.category = row.op.category;
    o.shapes = short_shapes(row.op.dims);
    o.types = row.op.types;
    o.spec = row.compute_spec.value_or("");
    o.count = static_cast<std::int64_t>(row.count);
    o.kernel_ns = row.kernel_ns;
    o.percent = row.percent;
    o.min_us = row.kernel_us.min;
    o.median_us = row.kernel_us.median;
    o.mean_us = row.kernel_us.mean;
    o.max_us = row.kernel_us.max;
    o.flops = row.has_model ? row.flops : std::numeric_limits<double>::quiet_NaN();
    o.bytes = row.has_model ? row.bytes : std::numeric_limits<double>::quiet_NaN();
    o.tflops = row.tflops.mean;
    o.tbps = row.tbps.mean;
    o.roofline_us = row.roofline ? row.roofline->time_us : std::numeric_limits<double>::quiet_NaN();
    o.compute_bound = row.roofline && row.roofline->compute_bound;
    o.one_kernel = row.details.kernels.size() == 1;
    out.operators.push_back(std::move(o));
  }
}

/// Calls `add` for each column of `width` that overlaps the interval, with the nanoseconds of
/// overlap.
template <class Add>
void spread_over(Interval at, Interval span, std::int64_t width, std::size_t columns, Add add) {
  const std::int64_t from = std::max(at.start, span.start);
  const std::int64_t to = std::min(at.end, span.end);
  for (std::int64_t ns = from; ns < to;) {
    const auto column = static_cast<std::size_t>((ns - span.start) / width);
    if (column >= columns)
      return;
    const std::int64_t end =
        std::min(to, span.start + (static_cast<std::int64_t>(column) + 1) * width);
    add(column, end - ns);
    ns = end;
  }
}

void add_queue(const LoadedTrace& t, const GpuWorkList& work, const ReportOptions& options,
               std::size_t slots, RankPage& out) {
  const Interval span{out.start_ns, out.end_ns};
  const std::int64_t length = std::max<std::int64_t>(span.end - span.start, 1);
  const auto count = static_cast<std::int64_t>(slots);
  out.queue.width_ns = (length + count - 1) / count;
  out.queue.depth.resize(slots);
  out.queue.most.resize(slots);
  out.queue.idle_ns.resize(slots);
  std::vector<std::pair<std::int64_t, int>> changes; // times of launches (+1) and starts (-1)
  for (const EventId e : work.index.gpu)
    if (t.tree.linked(e)) {
      const std::int64_t begun = t.trace.events.ts_ns[e];
      changes.emplace_back(std::min(t.trace.events.ts_ns[t.tree.parent(e)], begun), 1);
      changes.emplace_back(begun, -1);
    }
  std::sort(changes.begin(), changes.end());
  std::int64_t waiting = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    waiting += changes[i].second;
    if (waiting > 0)
      spread_over({changes[i].first, changes[i + 1].first}, span, out.queue.width_ns, slots,
                  [&](std::size_t column, std::int64_t ns) {
                    out.queue.depth[column] +=
                        static_cast<double>(ns) * static_cast<double>(waiting);
                    out.queue.most[column] =
                        std::max(out.queue.most[column], static_cast<std::uint32_t>(waiting));
                  });
  }
  for (double& depth : out.queue.depth)
    depth /= static_cast<double>(out.queue.width_ns);
  for (const IdlePart& part : idle_parts_of(t, options))
    spread_over({part.start_ns, part.end_ns}, span, out.queue.width_ns, slots,
                [&](std::size_t column, std::int64_t ns) {
                  out.queue.idle_ns[column][static_cast<std::size_t>(part.cause)] += ns;
                });
}

} // namespace

Result<RankPage> rank_page_of(const LoadedTrace& trace, const ReportOptions& options,
                              const PageDetail& detail) {
  const Result<UnifiedPerf>& perf = trace.shared(UnifiedPerfKey{options});
  if (!perf)
    return perf.error();
  RankPage out;
  out.rank = trace.rank;
  const Clock& clock = trace.trace.clock();
  if (clock.domain == ClockDomain::kUnix && usable_time(clock.offset_ns, 0))
    out.base_ns = clock.offset_ns;
  const GpuWorkList work = work_of(trace, options);
  out.start_ns = std::numeric_limits<std::int64_t>::max();
  out.end_ns = std::numeric_limits<std::int64_t>::min();
  for (const EventId e : work.index.gpu) {
    out.start_ns = std::min(out.start_ns, trace.trace.events.ts_ns[e]);
    out.end_ns = std::max(out.end_ns, trace.trace.end_ns(e));
  }
  if (work.index.gpu.empty())
    out.start_ns = out.end_ns = 0;
  out.steps = profiler_steps(trace.trace);
  Lanes(trace, work, perf->rows, detail, out).add_all();
  if (!options.gpu_arch.empty() && options.gpu_arch != "none") {
    RS_TRY(out.gpu, load_gpu_arch(options.gpu_arch));
  }
  add_operators(perf->rows, out);
  if (detail.kernels) {
    add_kernels(trace, work, out);
    add_queue(trace, work, options, detail.slots, out);
  }
  return out;
}

} // namespace rankscope
