#include "analyses/sweep/nccl_master.h"

#include "base/sort.h"

#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

using MasterRow = NcclMasterRow;

/// Returns the size in MiB; -1 if unknown, so that unknown sizes sort first.
double size_of(const SyncSummary& s) {
  return std::isnan(s.full_mib) ? -1 : s.full_mib;
}

/// Returns the collective and data type.
std::string what(const SyncSummary& s) {
  return fmt::format("{} {}", s.name, s.dtype);
}

std::string operation_name(double mib) {
  return mib < 0      ? std::string("unknown")
         : mib < 0.01 ? fmt::format("tiny_{:.3f}KB", mib * 1000)
         : mib < 100  ? fmt::format("medium_{:.2f}MB", mib)
                      : fmt::format("large_{:.2f}MB", mib);
}

/// Adds columns with mean, median, min and max of a metric.
void add_metric(Schema<MasterRow>& schema, const std::string& id, const std::string& label,
                Unit unit, Stats SyncSummary::*metric, const char* help) {
  static constexpr std::array kShown = {kMean, kMedian, kMin, kMax};
  for (const StatField& stat : kShown)
    schema.add(
        {id + "_" + stat.name, label + "_" + stat.name, unit,
         [metric, value = stat.value](const MasterRow& r) { return (r.summary->*metric).*value; },
         help});
}

} // namespace

std::vector<NcclMasterRow>
nccl_master_rows(const std::vector<ConfigurationCollectives>& configurations) {
  std::vector<NcclMasterRow> rows;
  std::set<std::pair<double, std::string>> operations;
  for (const ConfigurationCollectives& c : configurations)
    for (const SyncSummary& s : c.summary) {
      NcclMasterRow row;
      row.collectives = &c;
      row.summary = &s;
      if (const auto threads = c.configuration.threads())
        row.thread_config = fmt::format("{}thread", *threads);
      if (const auto channels = c.configuration.channels())
        row.channel_config = fmt::format("{}ch", *channels);
      row.operation_name = operation_name(size_of(s));
      operations.emplace(size_of(s), what(s));
      rows.push_back(std::move(row));
    }
  for (NcclMasterRow& row : rows)
    row.operation_id = fmt::format(
        "OP_{:02}", std::distance(operations.begin(),
                                  operations.find({size_of(*row.summary), what(*row.summary)})) +
                        1);
  sort_stably(rows, [](const MasterRow& a, const MasterRow& b) {
    const auto key = [](const MasterRow& r) {
      return std::tuple(size_of(*r.summary), what(*r.summary),
                        r.collectives->configuration.threads().value_or(0),
                        r.collectives->configuration.channels().value_or(0));
    };
    return key(a) < key(b);
  });
  return rows;
}

Schema<NcclMasterRow> nccl_master_schema() {
  Schema<MasterRow> schema("nccl_master_all_configs", "collectives of all configurations");
  schema.add({"operation_id", &MasterRow::operation_id});
  schema.add({"operation_name", &MasterRow::operation_name});
  schema.add({"full_mib", "Full msg size (MB)", Unit::kMiB,
              [](const MasterRow& r) { return r.summary->full_mib; },
              "message size, in units of 2^20 bytes: output of an all-gather, input of any other "
              "collective"});
  schema.add({"in_nelems", "In msg nelems", Unit::kCount,
              [](const MasterRow& r) { return known(r.summary->in_nelems); }});
  schema.add(
      {"threads_num", [](const MasterRow& r) { return r.collectives->configuration.threads(); }});
  schema.add({"thread_config", &MasterRow::thread_config});
  schema.add(
      {"channels_num", [](const MasterRow& r) { return r.collectives->configuration.channels(); }});
  schema.add({"channel_config", &MasterRow::channel_config});
  schema.add({"full_config", [](const MasterRow& r) {
                return std::string_view(r.collectives->configuration.label);
              }});
  schema.add({"collective", "Collective name", Unit::kNone,
              [](const MasterRow& r) { return std::string_view(r.summary->name); }});
  schema.add({"dtype", [](const MasterRow& r) { return std::string_view(r.summary->dtype); }});
  schema.add({"group_size", "Group size", Unit::kNone,
              [](const MasterRow& r) { return known(r.summary->group_size); }});
  schema.add({"count", Unit::kCount, [](const MasterRow& r) { return r.summary->count; }});
  add_metric(schema, "comm_latency_us", "comm_latency", Unit::kUs, &SyncSummary::latency_us,
             "shortest kernel duration among the ranks of a collective; the header names the "
             "statistic over the collectives");
  schema.add({"total_latency_ms", "Total comm latency (ms)", Unit::kMs,
              [](const MasterRow& r) { return r.summary->total_latency_ms; }});
  add_metric(schema, "algo_bw_gbps", "algo bw (GB/s)", Unit::kGBps, &SyncSummary::algo_gbps,
             "full message size divided by comm_latency");
  add_metric(schema, "bus_bw_gbps", "bus bw (GB/s)", Unit::kGBps, &SyncSummary::bus_gbps,
             "bus bandwidth: algorithm bandwidth x the factor of nccl-tests for this collective");
  add_metric(schema, "start_skew_us", "skew in start time", Unit::kUs, &SyncSummary::start_skew_us,
             "latest start - earliest start among the ranks of a collective; the header names the "
             "statistic over the collectives");
  add_metric(schema, "end_skew_us", "skew in end time", Unit::kUs, &SyncSummary::end_skew_us,
             "latest end - earliest end among the ranks of a collective; the header names the "
             "statistic over the collectives");
  schema.add({"group", "Process Group Name", Unit::kNone,
              [](const MasterRow& r) { return std::string_view(r.summary->group); }});
  schema.add({"source_file",
              [](const MasterRow& r) { return std::string_view(r.collectives->source_file); }});
  return schema;
}

Table nccl_master(const std::vector<ConfigurationCollectives>& configurations) {
  Table out = nccl_master_schema().table(nccl_master_rows(configurations));
  out.notes = {"comm_latency and skews are in microseconds; 1 MB is 1024^2 bytes"};
  return out;
}

} // namespace rankscope
