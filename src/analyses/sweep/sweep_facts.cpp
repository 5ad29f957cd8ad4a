#include "analyses/sweep/sweep_facts.h"

#include "analyses/graph/graph_attribution.h"
#include "analyses/group_stats.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "model/kernels.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace rankscope {
namespace {

std::string name_of(TimeKind kind) {
  return std::string(time_kind_name(kind));
}

/// Returns "256thread"; the tables over all configurations write parameters like this ("28ch",
/// "56cu").
std::string thread_config(const Configuration& c) {
  return c.threads() ? fmt::format("{}thread", *c.threads()) : std::string();
}

std::string channel_config(const Configuration& c) {
  return c.channels() ? fmt::format("{}ch", *c.channels())
         : c.cus()    ? fmt::format("{}cu", *c.cus())
                      : std::string();
}

double aggregated(std::vector<double> values, Aggregation aggregation) {
  if (aggregation == Aggregation::kArithmetic)
    return stats_of(std::move(values)).mean;
  std::vector<double> logs;
  for (const double v : values)
    if (v > 0)
      logs.push_back(std::log(v));
  return logs.empty() ? 0.0 : std::exp(stats_of(std::move(logs)).mean);
}

TimelineSpread spread_of(const ConfigurationRanks& group, TimeKind kind, Aggregation aggregation) {
  TimelineSpread out;
  out.configuration = group.configuration;
  out.ranks = group.ranks.size();
  out.kind = kind;
  out.slowest_rank = group.ranks.front()->key.rank;
  std::vector<double> ms;
  std::vector<double> percent;
  double high = -1;
  for (const RankRecord* r : group.ranks) {
    ms.push_back(r->ms(kind));
    percent.push_back(r->ms(kind) / r->ms(TimeKind::kTotal) * 100);
    if (ms.back() > high) {
      high = ms.back();
      out.slowest_rank = r->key.rank;
    }
  }
  const Stats spread = stats_of(ms);
  out.min_ms = spread.min;
  out.max_ms = spread.max;
  out.std_ms = spread.std_sample;
  out.ms = aggregated(std::move(ms), aggregation);
  out.percent = aggregated(std::move(percent), aggregation);
  return out;
}

Field<ConfigurationRow> mean_field(TimeKind kind) {
  return {"mean_" + name_of(kind) + "_ms", "mean " + name_of(kind) + " (ms)", Unit::kMs,
          [kind](const ConfigurationRow& r) { return r.mean(kind); },
          name_of(kind) + " in gpu_timeline, mean over the ranks"};
}

Schema<ConfigurationRow> begun_configuration_schema() {
  using R = ConfigurationRow;
  return {"configurations",
          "the configurations of a sweep, shortest total time first",
          {{"configuration", &R::label},
           {"ranks", Unit::kCount, &R::ranks, "number of ranks that were analysed"}}};
}

/// Rows are pointers, because records are large and must not be copied.
using RecordRow = const RankRecord*;

Schema<RecordRow> rank_schema() {
  using R = RecordRow;
  Schema<R> schema(
      "ranks", "the ranks of all configurations",
      {{"configuration", [](const R& r) { return std::string_view(r->key.configuration.label); }},
       {"threads", [](const R& r) { return r->key.configuration.threads(); }},
       {"channels", [](const R& r) { return r->key.configuration.channels(); }},
       {"cus", "CUs", Unit::kNone, [](const R& r) { return r->key.configuration.cus(); },
        "number of compute units of a collective, from the folder name"},
       {"rank", [](const R& r) { return r->key.rank; }}});
  for (const TimeKind kind : kSummaryKinds)
    schema.add({name_of(kind) + "_ms", name_of(kind) + " (ms)", Unit::kMs,
                [kind](const R& r) { return r->ms(kind); }});
  const auto gpu_percent = [](std::int64_t RankRecord::GraphTime::*ns) {
    return [ns](const R& r) {
      const RankRecord::GraphTime& g = r->graphs;
      return g.graph_ns > 0
                 ? Value(100.0 * static_cast<double>(g.*ns) / static_cast<double>(g.gpu_ns))
                 : Value();
    };
  };
  schema.add({"graph_percent", "graph launches (%)", Unit::kPercent, CellKind::kDouble,
              gpu_percent(&RankRecord::GraphTime::graph_ns),
              "share of the GPU time (sum of event durations) that graphs launched"});
  schema.add({"graph_unattributed_percent", "without operator (%)", Unit::kPercent,
              CellKind::kDouble, gpu_percent(&RankRecord::GraphTime::unattributed_ns),
              "share of the GPU time (sum of event durations) that graphs launched and that was "
              "not attributed to an operator"});
  return schema;
}

Schema<RecordRow> failed_schema() {
  using R = RecordRow;
  return {
      "failed_ranks",
      "ranks that could not be analysed",
      {{"configuration", [](const R& r) { return std::string_view(r->key.configuration.label); }},
       {"rank", [](const R& r) { return r->key.rank; }},
       {"why", [](const R& r) { return std::string_view(r->error); }}}};
}

Schema<SweepKernelRow> kernel_schema_sweep_facts() {
  using R = SweepKernelRow;
  const auto us = [](const char* id, const char* label,
                     std::int64_t RankRecord::Kernel::*ns) -> Field<R> {
    return {id, label, Unit::kUs, [ns](const R& r) { return ns_to_us(r.time.*ns); },
            "duration of a launch; the header names the statistic over the launches on all ranks"};
  };
  using K = RankRecord::Kernel;
  return {"gemm_kernels",
          "GEMM kernels of each configuration, most time first",
          {{"configuration", &R::label},
           {"kernel", &R::kernel},
           {"ranks", Unit::kCount, &R::ranks, "number of ranks that launch the kernel"},
           {"count", Unit::kCount, [](const R& r) { return r.time.count; },
            "number of launches in the row"},
           us("sum_us", "sum (\u00b5s)", &K::sum_ns),
           {"mean_us", "mean (\u00b5s)", Unit::kUs,
            [](const R& r) { return ns_to_us(r.time.sum_ns) / static_cast<double>(r.time.count); },
            "duration of a launch; the header names the statistic over the launches on all ranks"},
           us("min_us", "min (\u00b5s)", &K::min_ns),
           us("max_us", "max (\u00b5s)", &K::max_ns),
           {"max_over_min", "max / min", Unit::kRatio, [](const R& r) {
              return r.time.min_ns > 0 ? ns_to_us(r.time.max_ns) / ns_to_us(r.time.min_ns) : kNaN;
            }}}};
}

/// The kinds of kSummaryKinds sorted by name, as in the tables over all configurations.
constexpr std::array kKindsByName = {
    TimeKind::kBusy, TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kExposedMemcpy,
    TimeKind::kIdle, TimeKind::kTotalComm,   TimeKind::kTotalMemcpy, TimeKind::kTotal};

/// A spread with the texts of its columns.
struct SpreadRow {
  const TimelineSpread* spread;
  std::string threads, channels;
};

Schema<SpreadRow> spread_schema() {
  using R = SpreadRow;
  const auto number = [](const char* id, const char* label, Unit unit,
                         double TimelineSpread::*value) -> Field<R> {
    return {id, label, unit, [value](const R& r) { return r.spread->*value; }};
  };
  return {
      "All_Data",
      "GPU time of each configuration by kind, over its ranks",
      {{"full_config", [](const R& r) { return std::string_view(r.spread->configuration.label); }},
       {"threads_num", [](const R& r) { return r.spread->configuration.threads(); }},
       {"thread_config", or_blank(&R::threads)},
       {"channels_num", [](const R& r) { return r.spread->configuration.channels_or_cus(); }},
       {"channel_config", or_blank(&R::channels)},
       {"num_ranks", Unit::kCount, [](const R& r) { return r.spread->ranks; }},
       {"type", [](const R& r) { return time_kind_name(r.spread->kind); }},
       number("time_ms", "time ms", Unit::kMs, &TimelineSpread::ms),
       number("percent", "percent", Unit::kPercent, &TimelineSpread::percent),
       number("min_ms", "min ms", Unit::kMs, &TimelineSpread::min_ms),
       number("max_ms", "max ms", Unit::kMs, &TimelineSpread::max_ms),
       number("std_ms", "std ms", Unit::kMs, &TimelineSpread::std_ms),
       {"slowest_rank", [](const R& r) { return r.spread->slowest_rank; }}}};
}

/// The spreads of one configuration, one per kind in the order of kKindsByName.
using ConfigurationSpreads = std::span<const TimelineSpread>;

Table pivot(const char* name, const std::vector<ConfigurationSpreads>& configurations, Unit unit,
            double TimelineSpread::*value) {
  struct Row {
    std::size_t kind;
  };
  Schema<Row> schema(name, "GPU time by kind and configuration",
                     {{"type", [](const Row& r) { return time_kind_name(kKindsByName[r.kind]); }}});
  for (const ConfigurationSpreads& spreads : configurations) {
    const std::string& label = spreads.front().configuration.label;
    schema.add({label, unit, [spreads, value](const Row& r) { return spreads[r.kind].*value; }});
  }
  std::vector<Row> rows;
  for (std::size_t k = 0; k < kKindsByName.size(); ++k)
    rows.push_back({k});
  return schema.table(rows);
}

Table summary_by_configuration(const std::vector<ConfigurationSpreads>& configurations) {
  using R = ConfigurationSpreads;
  Schema<R> schema(
      "Summary_By_Config", "GPU times of each configuration",
      {{"full_config", "full_config", Unit::kNone, CellKind::kText,
        [](const R& r) { return Value(r.front().configuration.label); }},
       {"threads_num", [](const R& r) { return r.front().configuration.threads(); }},
       {"channels_num", [](const R& r) { return r.front().configuration.channels_or_cus(); }},
       {"num_ranks", Unit::kCount, [](const R& r) { return r.front().ranks; }}});
  for (const TimeKind kind : {TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kBusy,
                              TimeKind::kIdle, TimeKind::kTotal}) {
    const auto at = static_cast<std::size_t>(std::distance(
        kKindsByName.begin(), std::find(kKindsByName.begin(), kKindsByName.end(), kind)));
    schema.add({name_of(kind) + "_ms", name_of(kind) + "_ms", Unit::kMs,
                [at](const R& r) { return r[at].ms; }});
  }
  return schema.table(configurations);
}

} // namespace

void RankRecord::Kernel::add(const Kernel& other) {
  min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  sum_ns += other.sum_ns;
  count += other.count;
}

double RankRecord::ms(TimeKind kind) const {
  const auto& ns = time_ns[static_cast<std::size_t>(kind)];
  return ns ? ns_to_ms(*ns) : kNaN;
}

RankRecord make_record(const LoadedTrace& t, const ReportOptions& options) {
  RankRecord out;
  out.key.rank = t.rank;
  for (const TimelineRow& row : t.shared(TimelineKey{options}))
    out.time_ns[static_cast<std::size_t>(row.kind)] = static_cast<std::int64_t>(row.time_ns);
  const IdleTime& idle = t.shared(IdleKey{options});
  out.idle_ns = idle.ns;
  out.idle_gaps = idle.gaps;
  out.longest_idle = idle.longest;
  out.steps = step_times_of(t, options);
  out.calls = call_groups(t, options);
  if (const GraphAttribution& graphs = t.shared(GraphsKey{options}); graphs.graph_ns > 0)
    out.graphs = {graphs.gpu_ns, graphs.graph_ns,
                  graphs.ns[static_cast<std::size_t>(Attribution::kNone)]};
  const Events& e = t.trace.events;
  std::vector<signed char> gemm(t.trace.strings.size(), -1);
  std::unordered_map<StrId, RankRecord::Kernel> kernels;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kKernel)
      continue;
    signed char& known = gemm[e.name[i]];
    if (known < 0)
      known = is_gemm_kernel(t.trace.name(i)) ? 1 : 0;
    if (known != 0)
      kernels[e.name[i]].add({e.dur_ns[i], e.dur_ns[i], e.dur_ns[i], 1});
  }
  for (const auto& [name, kernel] : kernels)
    out.gemm_kernels.emplace(t.trace.strings.view(name), kernel);
  return out;
}

double ConfigurationRanks::mean_ms(TimeKind kind) const {
  std::vector<double> values;
  values.reserve(ranks.size());
  for (const RankRecord* r : ranks)
    values.push_back(r->ms(kind));
  return stats_of(std::move(values)).mean;
}

double ConfigurationRanks::mean_steps() const {
  std::size_t sum = 0;
  for (const RankRecord* r : ranks) {
    if (r->steps.empty())
      return 0;
    sum += r->steps.size();
  }
  return ranks.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(ranks.size());
}

std::optional<std::pair<double, double>>
different_steps(std::span<const ConfigurationRanks> groups) {
  std::vector<double> steps;
  for (const ConfigurationRanks& group : groups)
    steps.push_back(group.mean_steps());
  if (steps.empty())
    return std::nullopt;
  const auto [fewest, most] = std::ranges::minmax(steps);
  return fewest > 0 && fewest < most ? std::optional(std::pair(fewest, most)) : std::nullopt;
}

std::vector<ConfigurationRanks> by_configuration(const std::vector<RankRecord>& records) {
  std::vector<ConfigurationRanks> out;
  std::map<std::string, std::size_t> place;
  for (const RankRecord& r : records) {
    if (!r.error.empty())
      continue;
    const auto [at, fresh] = place.emplace(r.key.configuration.label, out.size());
    if (fresh)
      out.push_back({r.key.configuration, {}});
    out[at->second].ranks.push_back(&r);
  }
  return out;
}

std::vector<ConfigurationRow> configuration_rows(const std::vector<RankRecord>& records) {
  std::vector<ConfigurationRow> out;
  for (const ConfigurationRanks& group : by_configuration(records)) {
    ConfigurationRow row;
    row.label = group.configuration.label;
    row.ranks = group.ranks.size();
    row.mean_ms.fill(kNaN);
    for (const TimeKind kind : kSummaryKinds)
      row.mean_ms[static_cast<std::size_t>(kind)] = group.mean_ms(kind);
    row.exposed_percent = row.mean(TimeKind::kExposedComm) / row.mean(TimeKind::kTotal) * 100;
    out.push_back(std::move(row));
  }
  sort_stably(out, [](const auto& a, const auto& b) {
    return a.mean(TimeKind::kTotal) < b.mean(TimeKind::kTotal);
  });
  return out;
}

Schema<ConfigurationRow> configuration_schema() {
  using R = ConfigurationRow;
  Schema<R> schema = begun_configuration_schema();
  for (const TimeKind kind : kSummaryKinds)
    schema.add(mean_field(kind));
  schema.add({"exposed_comm_percent", "exposed communication (% of total)", Unit::kPercent,
              &R::exposed_percent});
  return schema;
}

Schema<ConfigurationRow> short_configuration_schema() {
  Schema<ConfigurationRow> schema = begun_configuration_schema();
  for (const TimeKind kind :
       {TimeKind::kTotal, TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kIdle})
    schema.add(mean_field(kind));
  return schema;
}

std::vector<SweepKernelRow> sweep_kernel_rows(const std::vector<RankRecord>& records,
                                              std::size_t top_k) {
  std::vector<SweepKernelRow> out;
  for (const ConfigurationRanks& group : by_configuration(records)) {
    std::map<std::string, SweepKernelRow> sums;
    for (const RankRecord* r : group.ranks)
      for (const auto& [name, k] : r->gemm_kernels) {
        SweepKernelRow& sum = sums[name];
        sum.time.add(k);
        ++sum.ranks;
      }
    std::vector<SweepKernelRow> rows;
    for (auto& [name, sum] : sums) {
      sum.label = group.configuration.label;
      sum.kernel = name;
      rows.push_back(std::move(sum));
    }
    sort_stably(rows, [](const auto& a, const auto& b) { return a.time.sum_ns > b.time.sum_ns; });
    if (top_k > 0 && rows.size() > top_k)
      rows.resize(top_k);
    std::move(rows.begin(), rows.end(), std::back_inserter(out));
  }
  return out;
}

const char* aggregation_name(Aggregation aggregation) {
  return aggregation == Aggregation::kArithmetic ? "mean" : "geomean";
}

std::vector<TimelineSpread> timeline_spreads(const std::vector<RankRecord>& records,
                                             Aggregation aggregation) {
  auto groups = by_configuration(records);
  sort_stably(groups, [](const auto& a, const auto& b) {
    const auto key = [](const Configuration& c) {
      return std::pair(c.threads().value_or(0), c.channels_or_cus().value_or(0));
    };
    return key(a.configuration) < key(b.configuration);
  });
  std::vector<TimelineSpread> out;
  for (const ConfigurationRanks& group : groups)
    for (const TimeKind kind : kKindsByName)
      out.push_back(spread_of(group, kind, aggregation));
  return out;
}

std::vector<Table> summary_tables(const std::vector<RankRecord>& records, std::size_t top_k) {
  std::vector<Table> out;
  out.push_back(configuration_schema().table(configuration_rows(records)));
  out.back().notes = {
      "means over the ranks; the configuration with the shortest mean total_time is first"};
  std::vector<RecordRow> good;
  std::vector<RecordRow> failed;
  for (const RankRecord& r : records)
    (r.error.empty() ? good : failed).push_back(&r);
  out.push_back(rank_schema().table(good));
  out.push_back(kernel_schema_sweep_facts().table(sweep_kernel_rows(records, top_k)));
  if (!failed.empty())
    out.push_back(failed_schema().table(failed));
  return out;
}

std::vector<Table> timeline_all_configs(const std::vector<RankRecord>& records,
                                        Aggregation aggregation) {
  const std::vector<TimelineSpread> spreads = timeline_spreads(records, aggregation);
  std::vector<SpreadRow> rows;
  for (const TimelineSpread& s : spreads)
    rows.push_back({&s, thread_config(s.configuration), channel_config(s.configuration)});
  std::vector<ConfigurationSpreads> configurations;
  for (std::size_t i = 0; i < spreads.size(); i += kKindsByName.size())
    configurations.emplace_back(&spreads[i], kKindsByName.size());
  std::vector<Table> out;
  out.push_back(spread_schema().table(rows));
  out.push_back(pivot("Pivot_Time_ms", configurations, Unit::kMs, &TimelineSpread::ms));
  out.push_back(pivot("Pivot_Percent", configurations, Unit::kPercent, &TimelineSpread::percent));
  out.push_back(summary_by_configuration(configurations));
  return out;
}

} // namespace rankscope
