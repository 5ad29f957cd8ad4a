// launch_statistics: calls that launch GPU work, by name. queue_length: launched work that waits,
// by stream.
#include "analyses/timeline/launch_statistics.h"

#include "base/not_negative.h"
#include "base/statistics.h"
#include "core/graph_launch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rankscope {
namespace {

constexpr std::int64_t kLongCallNs = 50'000;
constexpr std::int64_t kLongDelayNs = 100'000;

/// Returns (launching call, GPU event) for every GPU event with a launch, in file order of the
/// events.
std::vector<std::pair<EventId, EventId>> launch_pairs(const LoadedTrace& t) {
  std::vector<std::pair<EventId, EventId>> out;
  for (EventId e = 0; e < t.trace.events.size(); ++e)
    if (t.trace.gpu(e) && t.tree.linked(e))
      out.emplace_back(launch_of(t, e), e);
  return out;
}

/// A row with the durations of its calls.
struct LaunchDurations {
  LaunchStatisticsRow row;
  std::vector<std::int64_t> call_ns, gpu_ns, delay_ns;
};

using StreamKey = std::pair<std::int64_t, std::int64_t>; ///< device, stream
using QueueChange = std::pair<std::int64_t, int>; ///< time, and -1 for a launch (sorts first) or +1
                                                  ///< for a start

QueueLengthRow queue_row(const StreamKey& stream, std::vector<QueueChange> changes) {
  std::sort(changes.begin(), changes.end()); // launches sort before starts at the same time
  QueueLengthRow out;
  out.device = stream.first;
  out.stream = stream.second;
  std::vector<double> lengths;
  std::int64_t length = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    length -= changes[i].second;
    lengths.push_back(static_cast<double>(length));
    if (length >= kFullQueue && i + 1 < changes.size())
      out.full_ns += changes[i + 1].first - changes[i].first;
  }
  const Stats stats = stats_of(lengths);
  std::sort(lengths.begin(), lengths.end());
  out.points = stats.count;
  out.mean = stats.mean;
  out.std_sample = stats.std_sample;
  out.min = stats.min;
  out.q1 = quantile(lengths, 0.25);
  out.median = stats.median;
  out.q3 = quantile(lengths, 0.75);
  out.max = stats.max;
  return out;
}

std::int64_t trace_length_ns(const Trace& trace) {
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  for (EventId e = 0; e < trace.events.size(); ++e) {
    begin = std::min(begin, trace.events.ts_ns[e]);
    end = std::max(end, trace.end_ns(e));
  }
  return end > begin ? end - begin : 0;
}

std::vector<SheetInfo> describe_launch_statistics(const ReportOptions& /*options*/) {
  return {launch_statistics_schema().info(), queue_length_schema().info()};
}

Result<std::vector<Table>> run_launch_statistics(const LoadedTrace& t,
                                                 const ReportOptions& options) {
  std::vector<Table> out;
  if (options.compat_tracelens)
    return out;
  if (const auto rows = launch_statistics_of(t); !rows.empty())
    out.push_back(launch_statistics_schema().table(rows));
  if (const auto rows = queue_lengths_of(t); !rows.empty())
    out.push_back(queue_length_schema().table(rows));
  return out;
}

} // namespace

std::vector<LaunchStatisticsRow> launch_statistics_of(const LoadedTrace& trace) {
  const Events& e = trace.trace.events;
  std::map<StrId, LaunchDurations> by_name;
  for (const auto& [call, gpu] : launch_pairs(trace)) {
    LaunchDurations& durations = by_name[e.name[call]];
    const std::int64_t call_ns = e.dur_ns[call];
    const std::int64_t gpu_ns = e.dur_ns[gpu];
    const std::int64_t delay_ns =
        std::max<std::int64_t>(0, e.ts_ns[gpu] - trace.trace.end_ns(call));
    durations.call_ns.push_back(call_ns);
    durations.gpu_ns.push_back(gpu_ns);
    durations.delay_ns.push_back(delay_ns);
    durations.row.short_kernels += gpu_ns < call_ns && call_ns <= kLongCallNs ? 1 : 0;
    durations.row.long_calls += call_ns > kLongCallNs ? 1 : 0;
    durations.row.long_delays += delay_ns > kLongDelayNs ? 1 : 0;
  }
  std::vector<LaunchStatisticsRow> out;
  for (auto& [name, durations] : by_name) {
    LaunchStatisticsRow row = durations.row;
    row.name = trace.trace.strings.view(name);
    row.launches = durations.call_ns.size();
    row.call_us = stats_of_ns(std::move(durations.call_ns));
    row.gpu_us = stats_of_ns(std::move(durations.gpu_ns));
    row.delay_us = stats_of_ns(std::move(durations.delay_ns));
    out.push_back(row);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.launches != b.launches ? a.launches > b.launches : a.name < b.name;
  });
  return out;
}

Schema<LaunchStatisticsRow> launch_statistics_schema() {
  using R = LaunchStatisticsRow;
  Schema<R> schema("launch_statistics",
                   "calls that launch GPU work: duration, delay, and duration of the launched work",
                   {{"launch", &R::name, "name of the launching call"},
                    {"launches", Unit::kCount, &R::launches,
                     "number of GPU events that calls with this name launched"}});
  constexpr std::array kOf{kSum, kMean, kMedian, kMax};
  add_stats(schema, "call_us", "call (\u00b5s)", Unit::kUs, &R::call_us, kOf,
            "duration of the launching call; the header names the statistic over the GPU events, "
            "so a call counts once for each GPU event that it launched");
  add_stats(
      schema, "gpu_us", "GPU (\u00b5s)", Unit::kUs, &R::gpu_us, kOf,
      "duration of the launched GPU event; the header names the statistic over the GPU events");
  add_stats(schema, "delay_us", "delay (\u00b5s)", Unit::kUs, &R::delay_us, kOf,
            "time from the end of the launching call to the start of the GPU event; 0 if the GPU "
            "event starts before the call ends");
  schema.add({"short_kernels", "short kernels", Unit::kCount, &R::short_kernels,
              "number of GPU events that are shorter than their launching call; only launching "
              "calls of up to 50 \u00b5s are considered"});
  schema.add({"long_calls", "long calls", Unit::kCount, &R::long_calls,
              "number of GPU events launched by calls that are longer than 50 \u00b5s"});
  schema.add({"long_delays", "long delays", Unit::kCount, &R::long_delays,
              "number of GPU events with a delay longer than 100 \u00b5s"});
  return schema;
}

std::vector<QueueLengthRow> queue_lengths_of(const LoadedTrace& trace) {
  const Events& e = trace.trace.events;
  std::map<StreamKey, std::vector<QueueChange>> streams;
  for (const auto& [call, gpu] : launch_pairs(trace)) {
    if (launches_graph(trace.trace.name(call)))
      continue; // a graph launch is one queue entry, even if it runs many kernels
    std::vector<QueueChange>& changes = streams[{e.device[gpu], e.stream[gpu]}];
    changes.emplace_back(e.ts_ns[call], -1);
    changes.emplace_back(e.ts_ns[gpu], 1);
  }
  std::vector<QueueLengthRow> out;
  const std::int64_t trace_ns = streams.empty() ? 0 : trace_length_ns(trace.trace);
  for (auto& [stream, changes] : streams) {
    out.push_back(queue_row(stream, std::move(changes)));
    out.back().trace_ns = trace_ns;
  }
  return out;
}

Schema<QueueLengthRow> queue_length_schema() {
  using R = QueueLengthRow;
  return Schema<R>(
      "queue_length", "queue of each stream: launched GPU work that has not started",
      {{"device", [](const R& r) { return not_negative(r.device); }, "number of the GPU"},
       {"stream", [](const R& r) { return not_negative(r.stream); }, "number of the stream"},
       {"points", Unit::kCount, &R::points,
        "number of points in time at which the queue length changes (launches and starts)"},
       {"length_mean", &R::mean, "mean queue length, over the points"},
       {"length_std", &R::std_sample, "standard deviation of the queue length, over the points"},
       {"length_min", &R::min, "minimum queue length after a launch or start"},
       {"length_q1", "length_25%", Unit::kNone, &R::q1,
        "first quartile of the queue length, over the points"},
       {"length_median", "length_50%", Unit::kNone, &R::median,
        "median queue length, over the points"},
       {"length_q3", "length_75%", Unit::kNone, &R::q3,
        "third quartile of the queue length, over the points"},
       {"length_max", &R::max, "maximum queue length after a launch or start"},
       {"full_us", "full (\u00b5s)", Unit::kUs, in_us(&R::full_ns),
        "time during which the queue contained 1,024 launches or more, so that further launching "
        "calls had to wait"},
       {"full_percent", "full (%)", Unit::kPercent,
        [](const R& r) { return percent_of(r.full_ns, r.trace_ns); },
        "full (\u00b5s) in percent of the time from the first start to the last end of an event in "
        "the trace"}});
}

const Analysis launch_statistics_analysis{"launch_statistics",
                                          "launching calls, delays and queues",
                                          {"launch_statistics", "queue_length"},
                                          run_launch_statistics,
                                          describe_launch_statistics};

} // namespace rankscope
