// stream_idle: idle time of each stream by cause.
#include "analyses/timeline/stream_idle.h"

#include "base/not_negative.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, kStreamIdleCauses> kStreamIdleNames = {
    "host_wait", "kernel_wait", "other"};
constexpr std::array<std::string_view, kStreamIdleCauses> kStreamIdleHelp = {
    "the next work was launched after the stream had become idle",
    "the next work starts within 30 \u00b5s and was launched before the gap, or its launch is not "
    "in the trace",
    "the next work starts after more than 30 \u00b5s and was launched before the gap, or its "
    "launch is not in the trace"};

using StreamGaps = std::array<std::vector<std::int64_t>, kStreamIdleCauses>;

/// GPU work of a stream. It is sorted by all members, so that its order in the trace does not
/// matter.
struct StreamWork {
  std::int64_t start_ns, end_ns;
  std::int64_t launched_ns; ///< INT64_MIN: its launch is not in the trace
  auto operator<=>(const StreamWork&) const = default;
};

/// Returns the gaps of one stream by cause. `work`: at least one.
StreamGaps gaps_between(std::vector<StreamWork> work) {
  std::sort(work.begin(), work.end());
  StreamGaps out;
  std::int64_t before = work.front().end_ns; // end of all earlier work
  for (const StreamWork& next : work) {
    if (next.start_ns > before) {
      const std::int64_t gap = next.start_ns - before;
      const StreamIdleCause cause = next.launched_ns > before ? StreamIdleCause::kHostWait
                                    : gap < kKernelWaitNs     ? StreamIdleCause::kKernelWait
                                                              : StreamIdleCause::kOther;
      out[static_cast<std::size_t>(cause)].push_back(gap);
    }
    before = std::max(before, next.end_ns);
  }
  return out;
}

std::vector<SheetInfo> describe_stream_idle(const ReportOptions& /*options*/) {
  return {stream_idle_schema().info()};
}

Result<std::vector<Table>> run_stream_idle(const LoadedTrace& t, const ReportOptions& options) {
  if (options.compat_tracelens)
    return std::vector<Table>();
  const std::vector<StreamIdleRow> rows = stream_idle_of(t);
  return rows.empty() ? std::vector<Table>() : std::vector<Table>{stream_idle_schema().table(rows)};
}

} // namespace

std::string_view stream_idle_cause_name(StreamIdleCause cause) {
  return kStreamIdleNames[static_cast<std::size_t>(cause)];
}

std::vector<StreamIdleRow> stream_idle_of(const LoadedTrace& trace) {
  const Events& e = trace.trace.events;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<StreamWork>> streams;
  for (EventId i = 0; i < e.size(); ++i)
    if (trace.trace.gpu(i))
      streams[{e.device[i], e.stream[i]}].push_back(
          {e.ts_ns[i], trace.trace.end_ns(i),
           trace.tree.linked(i) ? e.ts_ns[launch_of(trace, i)] : INT64_MIN});
  std::vector<StreamIdleRow> out;
  for (auto& [stream, work] : streams) {
    StreamGaps gaps = gaps_between(std::move(work));
    const std::size_t first = out.size();
    double total_us = 0;
    for (std::size_t cause = 0; cause < kStreamIdleCauses; ++cause) {
      StreamIdleRow& row = out.emplace_back();
      row.device = stream.first;
      row.stream = stream.second;
      row.cause = static_cast<StreamIdleCause>(cause);
      row.gap_us = stats_of_ns(std::move(gaps[cause]));
      total_us += row.gap_us.sum;
    }
    for (std::size_t i = first; i < out.size() && total_us != 0; ++i)
      out[i].percent = 100 * out[i].gap_us.sum / total_us;
  }
  return out;
}

Schema<StreamIdleRow> stream_idle_schema() {
  using R = StreamIdleRow;
  Schema<R> schema(
      "stream_idle", "idle time of each stream by cause",
      {{"device", [](const R& r) { return not_negative(r.device); }, "number of the GPU"},
       {"stream", [](const R& r) { return not_negative(r.stream); }, "number of the stream"},
       {"cause", [](const R& r) { return stream_idle_cause_name(r.cause); },
        "cause of the idle time: host_wait, kernel_wait or other"},
       {"meaning", "meaning", Unit::kNone, CellKind::kText,
        [](const R& r) { return Value(kStreamIdleHelp[static_cast<std::size_t>(r.cause)]); },
        "meaning of the cause"},
       {"gaps", Unit::kCount, [](const R& r) { return r.gap_us.count; },
        "number of gaps with this cause; a gap is a time between two GPU events of the stream in "
        "which no GPU event of the stream runs"},
       {"percent", "idle (%)", Unit::kPercent, &R::percent, "share of the stream's idle time"}});
  add_stats(schema, "idle_us", "idle (\u00b5s)", Unit::kUs, &R::gap_us, kSpreadAndSum,
            "length of a gap, over the gaps with this cause");
  return schema;
}

const Analysis stream_idle_analysis{"stream_idle",
                                    "idle time of each stream by cause",
                                    {"stream_idle"},
                                    run_stream_idle,
                                    describe_stream_idle};

} // namespace rankscope
