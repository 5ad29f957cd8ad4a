#include "app/compare_reports_input.h"

#include "analyses/collectives/collective_report.h"
#include "analyses/collectives/collective_schemas.h"
#include "base/counters.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

std::string text_at(const Table& t, std::size_t row, const char* column) {
  const Value v = t.at(row, column);
  // in a workbook, the group "0" is a number
  return v.kind == CellKind::kText ? std::string(v.text)
         : v.is_null()             ? std::string()
                                   : fmt::format("{}", v.number());
}

double number_at(const Table& t, std::size_t row, const std::string& column) {
  return t.at(row, column).number();
}

/// Returns an integer cell, else `missing`.
std::int64_t integer_at(const Table& t, std::size_t row, const char* column, std::int64_t missing) {
  const double v = number_at(t, row, column);
  return std::fabs(v) < 9e18 ? static_cast<std::int64_t>(v) : missing;
}

std::size_t count_at(const Table& t, std::size_t row, const char* column) {
  const std::int64_t n = integer_at(t, row, column, 0);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

/// Returns a time in ns; nullopt for a value that is not a time (blank, text, more than 292 years).
std::optional<std::int64_t> ns_of_ms(double ms) {
  return std::fabs(ms) < 9e12 ? std::optional<std::int64_t>(std::llround(ms * 1e6)) : std::nullopt;
}

std::vector<SyncSummary> summary_of(const Table& t, const std::vector<std::string>& agg_metrics) {
  std::vector<SyncSummary> out;
  for (std::size_t r = 0; r < t.rows(); ++r) {
    SyncSummary s;
    s.name = text_at(t, r, "Collective name");
    s.dtype = text_at(t, r, "dtype");
    s.group = text_at(t, r, "Process Group Name");
    s.in_nelems = integer_at(t, r, "In msg nelems", kNoId);
    s.group_size = integer_at(t, r, "Group size", kNoId);
    s.full_mib = number_at(t, r, "Full msg size (MB)");
    const std::pair<const char*, Stats*> metrics[] = {{"comm_latency", &s.latency_us},
                                                      {"skew in start time", &s.start_skew_us},
                                                      {"skew in end time", &s.end_skew_us},
                                                      {"algo bw (GB/s)", &s.algo_gbps},
                                                      {"bus bw (GB/s)", &s.bus_gbps}};
    for (const auto& [label, stats] : metrics)
      for (const std::string& agg : agg_metrics)
        stats->*stat_named(agg) = number_at(t, r, fmt::format("{}_{}", label, agg));
    s.count = count_at(t, r, "count");
    s.total_latency_ms = number_at(t, r, "Total comm latency (ms)");
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<RankSummary> rank_summary_of(const Table& t) {
  std::vector<RankSummary> out;
  const bool nodes = t.column("node_id").has_value();
  for (std::size_t r = 0; r < t.rows(); ++r) {
    RankSummary s;
    s.rank = integer_at(t, r, "rank", -1);
    s.group = text_at(t, r, "Process Group Name");
    s.group_ranks = text_at(t, r, "Process Group Ranks");
    s.name = text_at(t, r, "Collective name");
    s.dtype = text_at(t, r, "dtype");
    s.in_split = text_at(t, r, "In split size");
    s.out_split = text_at(t, r, "Out split size");
    s.group_size = integer_at(t, r, "Group size", kNoId);
    s.in_nelems = integer_at(t, r, "In msg nelems", kNoId);
    s.out_nelems = integer_at(t, r, "Out msg nelems", kNoId);
    s.stream = integer_at(t, r, "stream", -1);
    s.in_mib = number_at(t, r, "In msg size (MB)_first");
    s.out_mib = number_at(t, r, "Out msg size (MB)_first");
    s.dur_us.sum = number_at(t, r, "dur_sum");
    s.dur_us.mean = number_at(t, r, "dur_mean");
    s.dur_us.std_sample = number_at(t, r, "dur_std");
    s.dur_us.min = number_at(t, r, "dur_min");
    s.dur_us.max = number_at(t, r, "dur_max");
    s.count = count_at(t, r, "operation_count");
    if (nodes) {
      s.node = integer_at(t, r, "node_id", 0);
      s.node_span = text_at(t, r, "node_span");
    }
    out.push_back(std::move(s));
  }
  return out;
}

constexpr double kGib = 1.073741824; // 1024^3 / 10^9

/// Returns the ratio of the reported bandwidth to the computed bandwidth (size / latency, in 10^9
/// bytes/s). The ratio shows the unit: 1 = 10^9 bytes/s, 1 / kGib = 1024^3 bytes/s. NaN if a value
/// is missing.
double unit_of(double algo_bw, double full_mib, double latency_us) {
  const double gbps = full_mib * 1024 * 1024 / 1e9 / (latency_us / 1e6);
  return gbps > 0 && std::isfinite(gbps) ? algo_bw / gbps : NAN;
}

/// Returns the factor that converts the report's bandwidths to 10^9 bytes/s; NaN if the unit is
/// unknown. In a row, the largest bandwidth belongs to the shortest latency.
double bandwidth_factor(const std::vector<SyncSummary>& rows, const Table* calls) {
  const auto factor = [](double unit) {
    return std::fabs(unit - 1) < 0.005 ? 1.0 : std::fabs(unit * kGib - 1) < 0.005 ? kGib : NAN;
  };
  if (calls != nullptr)
    for (std::size_t r = 0; r < calls->rows(); ++r)
      if (const double f = factor(unit_of(number_at(*calls, r, "algo bw (GB/s)"),
                                          number_at(*calls, r, "Full msg size (MB)"),
                                          number_at(*calls, r, "comm_latency")));
          !std::isnan(f))
        return f;
  for (const SyncSummary& s : rows)
    for (const double unit : {unit_of(s.algo_gbps.max, s.full_mib, s.latency_us.min),
                              unit_of(s.algo_gbps.min, s.full_mib, s.latency_us.max)})
      if (const double f = factor(unit); !std::isnan(f))
        return f;
  return NAN;
}

void scale(Stats& stats, double factor) {
  for (double* v : {&stats.mean, &stats.median, &stats.min, &stats.max, &stats.std_sample})
    *v *= factor;
}

bool has_bandwidth(const std::vector<SyncSummary>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const SyncSummary& s) { return !std::isnan(s.algo_gbps.mean); });
}

/// Adds single collectives: latency, skew, bandwidth (times `factor`).
void take_calls(const Table& t, double factor, RunCollectives& out) {
  for (std::size_t r = 0; r < t.rows(); ++r)
    if (const double latency = number_at(t, r, "comm_latency"); !std::isnan(latency)) {
      const std::string group = text_at(t, r, "Process Group Name");
      CollectiveSamples& samples = out.samples[{
          text_at(t, r, "Collective name"), text_at(t, r, "dtype"),
          integer_at(t, r, "In msg nelems", kNoId), group.empty() ? "Unknown_Group" : group}];
      const std::int64_t step = integer_at(t, r, "step", -1);
      samples.latency_us.add(step, latency);
      samples.start_skew_us.add(step, number_at(t, r, "skew in start time"));
      samples.bus_gbps.add(step, number_at(t, r, "bus bw (GB/s)") * factor);
    }
}

/// Adds the durations of single kernels.
void take_kernels(const Table& t, RunCollectives& out) {
  for (std::size_t r = 0; r < t.rows(); ++r)
    if (const double dur = number_at(t, r, "dur"); !std::isnan(dur))
      out.rank_dur_us[{integer_at(t, r, "rank", -1),
                       {text_at(t, r, "Collective name"), text_at(t, r, "dtype"),
                        integer_at(t, r, "In msg nelems", kNoId),
                        text_at(t, r, "Process Group Name")},
                       integer_at(t, r, "stream", -1)}]
          .add(integer_at(t, r, "step", -1), dur);
}

} // namespace

OperatorTimes operators_of_report(const Report& report) {
  OperatorTimes out;
  const Table* const t = report.find("ops_summary");
  if (t == nullptr || !t->column("name") || !t->column("total_direct_kernel_time_ms"))
    return out;
  for (std::size_t r = 0; r < t->rows(); ++r)
    if (const double ms = number_at(*t, r, "total_direct_kernel_time_ms"); ms > 0)
      out[text_at(*t, r, "name")] += ms;
  return out;
}

std::optional<RankTimeline> timeline_of_report(const Report& report) {
  const Table* const timeline = report.find("gpu_timeline");
  if (timeline == nullptr || !timeline->column("type") || !timeline->column("time ms"))
    return std::nullopt;
  RankTimeline out;
  for (std::size_t r = 0; r < timeline->rows(); ++r) {
    const auto kind = time_kind_named(timeline->at(r, "type").text);
    const auto ns = ns_of_ms(number_at(*timeline, r, "time ms"));
    if (kind && ns)
      out.kinds.emplace(*kind, KindTime{*ns, number_at(*timeline, r, "percent")});
  }
  if (const Table* const steps = report.find("gpu_timeline_per_step")) {
    for (std::size_t r = 0; r < steps->rows(); ++r) {
      const auto kind = time_kind_named(steps->at(r, "type").text);
      const auto ns = ns_of_ms(number_at(*steps, r, "time ms"));
      if (kind && ns)
        out.step_ns[*kind][integer_at(*steps, r, "step", 0)] = *ns;
    }
    // as rank_timeline() does, which knows the GPU work of the steps
    std::vector<std::int64_t> working;
    for (const auto& [step, ns] : out.step_ns[TimeKind::kTotal])
      if (ns > 0)
        working.push_back(step);
    const auto idle = known_idle(out.step_ns[TimeKind::kTotal]).ns;
    for (auto& [kind, by_step] : out.step_ns)
      for (std::size_t s = 0; s < working.size(); ++s)
        if (has_idle_before(kind) && !idle[s])
          by_step.erase(working[s]);
  }
  return out;
}

RunCollectives collectives_of_report(const Report& report, const std::string& label,
                                     Diagnostics& diagnostics) {
  RunCollectives out;
  const Table* const calls = report.find("nccl_implicit_sync");
  double factor = NAN;
  if (const Table* t = report.find("nccl_summary_implicit_sync")) {
    out.agg_metrics.clear();
    for (const char* agg : {"mean", "median", "min", "max", "std"})
      if (t->column(fmt::format("comm_latency_{}", agg)))
        out.agg_metrics.emplace_back(agg);
    out.summary = summary_of(*t, out.agg_metrics);
    factor = bandwidth_factor(out.summary, calls);
    if (std::isnan(factor) && has_bandwidth(out.summary))
      diagnostics.add(counters::bandwidth_unit_unknown(), label);
    else if (factor > 1)
      diagnostics.add(counters::bandwidth_unit_converted(), label);
    for (SyncSummary& s : out.summary)
      for (Stats* bandwidth : {&s.algo_gbps, &s.bus_gbps})
        scale(*bandwidth, factor);
    out.notes = sync_summary_notes(false);
    // only reports with aligned clocks have this sheet
    out.clocks = report.find("clocks") == nullptr ? ClockState::kRaw : ClockState::kAligned;
  }
  if (const Table* t = report.find("nccl_summary_long"))
    out.rank_summary = rank_summary_of(*t);
  if (calls != nullptr)
    take_calls(*calls, factor, out);
  if (const Table* t = report.find("nccl_long"))
    take_kernels(*t, out);
  return out;
}

} // namespace rankscope
