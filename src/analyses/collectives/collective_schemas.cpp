// Sheets with one row per group of collectives, per rank or per kind.
#include "analyses/collectives/collective_schemas.h"

#include "base/rank_excess.h"
#include "base/statistics.h"
#include "base/units.h"

#include <cmath>

namespace rankscope {
namespace {

using enum CellKind;

} // namespace

double Stats::*stat_named(std::string_view name) {
  return name == "mean"     ? &Stats::mean
         : name == "median" ? &Stats::median
         : name == "min"    ? &Stats::min
         : name == "max"    ? &Stats::max
                            : &Stats::std_sample;
}

Schema<SyncSummary> sync_summary_schema(const std::vector<std::string>& agg_metrics) {
  using R = SyncSummary;
  Schema<R> schema(
      "nccl_summary_implicit_sync",
      "synchronizing collectives, one row per name, type, size and group",
      {{"collective", "Collective name", Unit::kNone, &R::name},
       {"dtype", &R::dtype},
       {"in_nelems", "In msg nelems", Unit::kCount, [](const R& r) { return known(r.in_nelems); },
        "number of input elements of a rank"},
       {"group", "Process Group Name", Unit::kNone, &R::group},
       {"group_size", "Group size", Unit::kNone, [](const R& r) { return known(r.group_size); }},
       {"full_mib", "Full msg size (MB)", Unit::kMiB, &R::full_mib,
        "message size: output of an all-gather, input of any other collective"}});
  struct Metric {
    const char* id;
    const char* label;
    Unit unit;
    Stats R::*stats;
    const char* help;
  };
  static constexpr Metric kMetrics[] = {
      {"comm_latency_us", "comm_latency", Unit::kUs, &R::latency_us,
       "shortest kernel duration among the ranks of a collective; the header names the statistic "
       "over the collectives"},
      {"start_skew_us", "skew in start time", Unit::kUs, &R::start_skew_us,
       "latest start - earliest start among the ranks of a collective; the header names the "
       "statistic over the collectives"},
      {"end_skew_us", "skew in end time", Unit::kUs, &R::end_skew_us,
       "latest end - earliest end among the ranks of a collective; the header names the statistic "
       "over the collectives"},
      {"algo_bw_gbps", "algo bw (GB/s)", Unit::kGBps, &R::algo_gbps,
       "full message size divided by comm_latency"},
      {"bus_bw_gbps", "bus bw (GB/s)", Unit::kGBps, &R::bus_gbps,
       "bus bandwidth: algorithm bandwidth x the factor of nccl-tests for this collective"}};
  for (const Metric& m : kMetrics)
    for (const std::string& agg : agg_metrics)
      schema.add(
          {m.id + ("_" + agg), m.label + ("_" + agg), m.unit,
           [stats = m.stats, stat = stat_named(agg)](const R& r) { return (r.*stats).*stat; },
           m.help});
  schema.add({"count", Unit::kCount, &R::count, "number of collectives in the row"});
  schema.add({"total_latency_ms", "Total comm latency (ms)", Unit::kMs, &R::total_latency_ms});
  return schema;
}

Schema<SyncSummary> reference_summary_schema(const std::vector<std::string>& agg_metrics,
                                             std::span<const SyncSummary> rows) {
  const Schema<SyncSummary> all = sync_summary_schema(agg_metrics);
  const bool rates = std::any_of(
      rows.begin(), rows.end(), [](const SyncSummary& r) { return !std::isnan(r.algo_gbps.mean); });
  Schema<SyncSummary> out(all.name(), all.help());
  for (AnyField field : all.fields()) {
    if (!rates && field.unit == Unit::kGBps)
      continue;
    if (field.id == "collective" || field.id == "dtype" || field.id == "in_nelems") {
      field.type = kText;
      field.get = [get = field.get](const void* row) {
        const Value v = get(row);
        return v.is_null() || (v.kind == kText && v.text.empty()) ? Value("Unknown") : v;
      };
    }
    out.add(Field<SyncSummary>(std::move(field)));
  }
  return out;
}

Schema<SyncSummary> sync_summary_short_schema() {
  const Schema<SyncSummary> all = sync_summary_schema({"mean"});
  Schema<SyncSummary> out(all.name(), all.help());
  for (const AnyField& field : all.fields())
    for (const std::string_view id :
         {"collective", "dtype", "in_nelems", "group", "comm_latency_us_mean", "start_skew_us_mean",
          "bus_bw_gbps_mean", "count", "total_latency_ms"})
      if (field.id == id)
        out.add(Field<SyncSummary>(field));
  return out;
}

Schema<RankSummary> rank_summary_schema(const std::string& name, bool nodes) {
  using R = RankSummary;
  Schema<R> schema(
      name, "durations of collective kernels by rank, group, name, type, size and stream",
      {{"rank", &R::rank},
       {"group", "Process Group Name", Unit::kNone, &R::group},
       {"group_ranks", "Process Group Ranks", Unit::kNone, &R::group_ranks, "",
        ColumnStyle{.nested = true}},
       {"collective", "Collective name", Unit::kNone, &R::name},
       {"group_size", "Group size", Unit::kNone, &R::group_size},
       {"dtype", &R::dtype},
       {"in_nelems", "In msg nelems", Unit::kNone, &R::in_nelems},
       {"out_nelems", "Out msg nelems", Unit::kNone, &R::out_nelems},
       {"in_split", "In split size", Unit::kNone, &R::in_split},
       {"out_split", "Out split size", Unit::kNone, &R::out_split},
       {"stream", &R::stream},
       {"in_mib", "In msg size (MB)_first", Unit::kMiB, &R::in_mib},
       {"out_mib", "Out msg size (MB)_first", Unit::kMiB, &R::out_mib},
       {"dur_us_sum", "dur_sum", Unit::kUs, [](const R& r) { return r.dur_us.sum; },
        "sum of the kernel durations, including waits for ranks that start later"},
       {"dur_us_mean", "dur_mean", Unit::kUs, [](const R& r) { return r.dur_us.mean; }},
       {"dur_us_std", "dur_std", Unit::kUs, [](const R& r) { return r.dur_us.std_sample; }},
       {"dur_us_min", "dur_min", Unit::kUs, [](const R& r) { return r.dur_us.min; }},
       {"dur_us_max", "dur_max", Unit::kUs, [](const R& r) { return r.dur_us.max; }},
       {"count", "operation_count", Unit::kCount, &R::count}});
  if (nodes) {
    schema.add({"node", "node_id", Unit::kNone, &R::node,
                "number of the node: rank divided by the number of GPUs per node"});
    schema.add(
        {"node_span", [](const R& r) { return text_or_blank(r.node_span); },
         "intra_node: all members are on one node; inter_node: members are on several nodes"});
  }
  return schema;
}

Schema<AllToAllVSummary> all_to_all_v_summary_schema() {
  using R = AllToAllVSummary;
  return {
      "nccl_summary_all2allv",
      "all-to-all-v collectives by process group and data type",
      {{"group", "Process Group Name", Unit::kNone, &R::group},
       {"dtype", &R::dtype},
       {"group_ranks", "Process Group Ranks", Unit::kNone, &R::group_ranks, "",
        ColumnStyle{.nested = true}},
       {"group_size", "Group size", Unit::kNone, [](const R& r) { return known(r.group_size); }},
       {"sent_mib_mean", "total data communicated (MB)_mean", Unit::kMiB, &R::mean_mib},
       {"wall_us_mean", "wall_time (us)_mean", Unit::kUs, &R::mean_wall_us,
        "time from the first start to the last end of a member, mean over the collectives"},
       {"throughput_gbps_mean", "throughput (GB/s)_mean", Unit::kGBps, &R::mean_throughput_gbps},
       {"imbalance_mean", "size_imbalance_mean", Unit::kRatio, &R::mean_imbalance,
        "largest amount of data that a rank sent, divided by the mean amount per rank, mean over "
        "the collectives"},
       {"count", Unit::kCount, &R::count},
       {"wall_us_sum", "Total wall_time (us)", Unit::kUs, &R::wall_us},
       {"wall_ms_sum", "Total wall_time (ms)", Unit::kMs,
        [](const R& r) { return r.wall_us / 1e3; }}}};
}

Schema<SentTo> all_to_all_v_sent_schema() {
  using R = SentTo;
  return {"all2allv_heatmap",
          "amount of data that each rank sent to each other rank in all-to-all-v collectives",
          {{"from_rank", "src_rank", Unit::kNone, &R::from},
           {"to_rank", "dst_rank", Unit::kNone, &R::to},
           {"sent_mib", "total_sent_MB", Unit::kMiB, &R::mib},
           {"sent_mib_mean", "avg_sent_MB", Unit::kMiB,
            [](const R& r) { return r.mib / static_cast<double>(r.count); }},
           {"count", Unit::kCount, &R::count}}};
}

Schema<Straggler> straggler_schema(const ReferenceForm& reference) {
  using R = Straggler;
  Schema<R> schema(
      "straggler_summary",
      "when each rank started synchronizing collectives, compared with the other ranks",
      {{"rank", &R::rank},
       {"wait_us", "total_wait_time_us", Unit::kUs, in_us(&R::wait_ns),
        "time that the rank waited for the last member to start, summed over its collectives"},
       {"wait_us_mean", "mean_wait_time_us", Unit::kUs, kDouble,
        [](const R& r) {
          const double us = ns_to_us(r.wait_ns) / static_cast<double>(r.collectives);
          return Value(std::nearbyint(us * 10) / 10); // rounds halves to even, as Python does
        }},
       {"last", "times_arrived_last", Unit::kCount, &R::last},
       {"first", "times_arrived_first", Unit::kCount, &R::first},
       {"last_percent", "pct_arrived_last", Unit::kPercent,
        [](const R& r) { return r.percent_of(r.last); }},
       {"collectives", "num_collectives", Unit::kCount, &R::collectives},
       {"dur_us", "total_nccl_dur_us", Unit::kUs, in_us(&R::dur_ns)},
       {"lateness_us_mean", "mean_lateness_us", Unit::kUs, &R::mean_lateness_us,
        "mean time from the members' median start to the start of this rank, on aligned clocks. If "
        "clocks are aligned roughly, it can contradict mean_later_us, which needs no clocks"},
       {"later_us_mean", "mean_later_us", Unit::kUs, kDouble,
        [](const R& r) { return r.late_us.empty() ? Value() : Value(trimmed_mean_of(r.late_us)); },
        "time by which the rank's collectives are shorter than the median of the other members, "
        "trimmed mean over the steps. Findings use this value as the rank's lateness, because it "
        "needs no clock alignment"},
       {"shortest", "times_shortest", Unit::kCount, &R::shortest,
        "number of collectives in which the rank's kernel was the shortest. The rank that starts "
        "last has the shortest kernel, so this number needs no clock alignment"},
       {"shortest_percent", "pct_shortest", Unit::kPercent,
        [](const R& r) { return r.percent_of(r.shortest); }}});
  if (reference.on && reference.per_node > 0)
    schema.add({"node", "node_id", Unit::kNone,
                [n = reference.per_node](const R& r) { return r.rank / n; },
                "number of the node: rank divided by the number of GPUs per node"});
  return schema;
}

Schema<ExposedRank> exposed_rank_schema() {
  using R = ExposedRank;
  return {"exposed_by_rank",
          "communication time by rank, divided into exposed and hidden time",
          {{"rank", &R::rank},
           {"comm_ms", "communication (ms)", Unit::kMs, in_ms(&R::comm_ns),
            "time during which collective kernels ran on the rank"},
           {"exposed_ms", "exposed (ms)", Unit::kMs, in_ms(&R::exposed_ns)},
           {"hidden_compute_ms", "hidden by compute (ms)", Unit::kMs, in_ms(&R::hidden_compute_ns)},
           {"hidden_memcpy_ms", "hidden by memcpy (ms)", Unit::kMs, in_ms(&R::hidden_memcpy_ns),
            "communication time during which copies, but no compute kernels, ran on the same rank"},
           {"exposed_percent", "exposed (%)", Unit::kPercent,
            [](const R& r) { return percent_of(r.exposed_ns, r.comm_ns, kNaN); }}}};
}

Schema<ExposedType> exposed_type_schema() {
  using R = ExposedType;
  return {
      "exposed_by_type",
      "communication time by kind of collective, divided into exposed and hidden time",
      {{"collective", "Collective name", Unit::kNone, &R::name},
       {"kernels", Unit::kCount, &R::kernels},
       {"dur_ms", "duration (ms)", Unit::kMs, in_ms(&R::dur_ns),
        "sum of the durations of all kernels on all ranks"},
       {"wait_ms", "wait (ms)", Unit::kMs, kDouble,
        [](const R& r) { return r.waits_known_ns > 0 ? Value(ns_to_ms(r.wait_ns)) : Value(); },
        "time that ranks waited for the last member to start; only for synchronizing collectives "
        "with all members in the run"},
       {"transfer_ms", "transfer (ms)", Unit::kMs, kDouble,
        [](const R& r) {
          return r.waits_known_ns > 0 ? Value(ns_to_ms(r.waits_known_ns - r.wait_ns)) : Value();
        },
        "kernel duration minus the wait, for the collectives that are counted in wait (ms)"},
       {"hidden_compute_ms", "hidden by compute (ms)", Unit::kMs, in_ms(&R::hidden_compute_ns)},
       {"hidden_memcpy_ms", "hidden by memcpy (ms)", Unit::kMs, in_ms(&R::hidden_memcpy_ns)},
       {"exposed_ms", "exposed (ms)", Unit::kMs,
        [](const R& r) { return ns_to_ms(r.exposed_ns()); }},
       {"exposed_percent", "exposed (%)", Unit::kPercent, &R::exposed_percent}}};
}

Schema<GroupSummary> process_group_schema() {
  using R = GroupSummary;
  return {
      "process_groups",
      "the process groups and their communication",
      {{"group", "Process Group Name", Unit::kNone, &R::name},
       {"description", [](const R& r) { return text_or_blank(r.description); }},
       {"group_ranks", "Process Group Ranks", Unit::kNone,
        [](const R& r) { return text_or_blank(r.ranks); }, "", ColumnStyle{.nested = true}},
       {"group_size", "Group size", Unit::kNone, [](const R& r) { return known(r.size); }},
       {"node_span", &R::node_span},
       {"collectives", Unit::kCount, &R::collectives},
       {"kernels", Unit::kCount, &R::kernels},
       {"mib", "message size (MB)", Unit::kMiB, &R::mib},
       {"dur_ms", "duration over ranks (ms)", Unit::kMs, in_ms(&R::dur_ns)},
       {"bus_bw_gbps_median", "bus bandwidth median (GB/s)", Unit::kGBps, &R::median_bus_gbps}}};
}

Schema<RankClock> clock_schema() {
  using R = RankClock;
  return {"clocks",
          "offsets between the clocks of the ranks",
          {{"rank", &R::rank},
           {"base_time_ns", "base time (ns)", Unit::kNone, &R::base_time_ns},
           {"offset_us", "offset to rank 0's clock (\u00b5s)", Unit::kUs,
            [](const R& r) { return ns_to_us(r.offset.line.offset_ns); },
            "time by which the rank's clock is ahead of the clock of the first rank"},
           {"residual_us", "residual (\u00b5s)", Unit::kUs,
            [](const R& r) { return ns_to_us(r.offset.residual_ns); },
            "median absolute difference between the ends of shared collectives after the clocks "
            "are aligned"},
           {"effect_us", "skew in start (\u00b5s)", Unit::kUs,
            [](const R& r) { return ns_to_us(r.offset.effect_ns); },
            "median absolute difference between the starts of shared collectives after the clocks "
            "are aligned: the lateness that analyses measure"},
           {"drift_ppb", "drift (ns/s)", Unit::kNone,
            [](const R& r) { return static_cast<double>(r.offset.line.drift_ppt) / 1e3; },
            "drift relative to the clock of the first rank; 0 if the collectives show no drift"},
           {"collectives", Unit::kCount, [](const R& r) { return r.offset.samples; },
            "number of collectives shared with the rank with which this rank's clock was compared"},
           {"aligned", [](const R& r) { return r.offset.aligned(); }},
           {"used", "used", Unit::kNone, kText,
            [](const R& r) {
              switch (r.offset.fit) {
              case ClockFit::kReference:
                return Value("reference");
              case ClockFit::kAligned:
                return Value("collectives");
              case ClockFit::kPoor:
                return Value("time base: the residual is too large");
              case ClockFit::kAlone:
                break;
              }
              return Value("time base: no shared collective");
            },
            "source of the common clock for the rank's times: reference (this rank's clock), "
            "collectives, or the time base of the file"}}};
}

Schema<CollectiveProblem> problem_schema() {
  using R = CollectiveProblem;
  return {
      "problems",
      "recordings that are shifted against each other, and collectives that differ between ranks",
      {{"group", "process group", Unit::kNone, &R::group},
       {"rank", &R::rank},
       {"index", &R::index},
       {"problem", &R::problem}}};
}

} // namespace rankscope
