#include "analyses/collectives/collective_report.h"

#include "analyses/collectives/collective_schemas.h"
#include "analyses/collectives/collective_stream.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

/// Adds a chart of mean bus bandwidth over message size. Does nothing if a value is not positive,
/// since the axes are logarithmic, or if no mean was requested.
void add_bandwidth_chart(const std::vector<SyncSummary>& rows, Table& table) {
  const auto column = [&table](std::string_view id) {
    return static_cast<std::size_t>(std::ranges::find(table.columns(), id, &Column::id) -
                                    table.columns().begin());
  };
  Chart chart;
  chart.kind = Chart::Kind::kPoints;
  chart.label_column = column("full_mib");
  chart.value_columns = {column("bus_bw_gbps_mean")};
  const auto drawn = [](double v) { return std::isnan(v) || v > 0; };
  if (chart.value_columns.front() == table.cols())
    return;
  for (const SyncSummary& row : rows)
    if (!drawn(row.full_mib) || !drawn(row.bus_gbps.mean))
      return;
  chart.title = "Bus bandwidth by size";
  chart.label_title = "full message (2^20 bytes)";
  chart.value_title = "bus bandwidth (GB/s)";
  chart.last_row = rows.size();
  chart.parts = {{"collectives", rows.size(), false}};
  table.charts.push_back(std::move(chart));
}

/// The rows of a CollectiveStream list as rows of a table.
template <class Row> class StreamedRows final : public RowStream {
public:
  using Each =
      std::function<Result<void>(const std::function<Result<void>(std::span<const Row>)>&)>;
  StreamedRows(Schema<Row> schema, std::size_t rows, Each each)
      : schema_(std::move(schema)), rows_(rows), each_(std::move(each)) {}
  [[nodiscard]] std::size_t rows() const override { return rows_; }
  [[nodiscard]] Result<void> each(const Use& use) const override {
    return each_([&](std::span<const Row> some) { return use(schema_.table(some)); });
  }

private:
  Schema<Row> schema_;
  std::size_t rows_;
  Each each_;
};

/// Row counts of long tables without rows in the facts. Such tables are added without rows.
struct LongTables {
  std::size_t kernels = 0, synchronising = 0;
};

} // namespace

std::vector<std::string> sync_summary_notes(bool compat_tracelens) {
  return {
      "comm_latency is the shortest duration over the ranks, \u00b5s; a rank that starts early "
      "waits",
      compat_tracelens
          ? "bandwidths are in 1024^3 bytes per second, with the labels of the reference"
          : "bandwidths are in 10^9 bytes per second; bus bandwidth = algorithm bandwidth x factor "
            "of nccl-tests"};
}

namespace {

Report tables_of(const CollectiveFacts& facts, const CollectiveOptions& options,
                 const LongTables& elsewhere) {
  Report report;
  const auto add = [&report](const auto& schema, const auto& rows,
                             std::vector<std::string> notes = {}, std::size_t more = 0) {
    if (rows.empty() && more == 0)
      return;
    report.tables.push_back(schema.table(rows));
    report.tables.back().notes = std::move(notes);
  };
  const ReferenceForm reference{options.compat_tracelens, facts.per_node};
  add(reference.on ? reference_summary_schema(options.agg_metrics, facts.summary)
                   : sync_summary_schema(options.agg_metrics),
      facts.summary, sync_summary_notes(options.compat_tracelens));
  if (!facts.summary.empty())
    add_bandwidth_chart(facts.summary, report.tables.back());
  const bool nodes = !facts.rank_summary.empty() && facts.rank_summary.front().node.has_value();
  add(rank_summary_schema("nccl_summary_long", nodes), facts.rank_summary);
  add(all_to_all_v_summary_schema(), facts.a2av_summary);
  add(all_to_all_v_sent_schema(), facts.a2av_sent);
  add(collective_kernel_schema(reference), facts.kernels, {}, elsewhere.kernels);
  add(sync_collective_schema(facts.ranks, reference), facts.synchronising,
      has_rank_columns(facts.ranks)
          ? std::vector<std::string>{}
          : std::vector<std::string>{"with more than 256 ranks, per-rank times are only in "
                                     "nccl_long, one row per rank and collective"},
      elsewhere.synchronising);
  add(all_to_all_v_schema(), facts.a2av);
  add(straggler_schema(reference), facts.stragglers,
      {"the first row waits least: this rank starts last and the others wait for it",
       "mean_lateness_us: mean time from the median start of the ranks to the start of this rank, "
       "on aligned clocks; times_shortest needs no clock alignment: the rank that starts last has "
       "the shortest duration"});
  add(exposed_rank_schema(), facts.exposed_ranks,
      {"communication is the union of the rank's collectives; exposed is the part in which "
       "neither compute nor copies ran on that rank"});
  add(exposed_type_schema(), facts.exposed_types,
      {"sums over kernels and ranks; wait: until the last member has started; transfer: the rest "
       "of the duration"});
  add(process_group_schema(), facts.groups);
  add(clock_schema(), facts.clocks,
      {"offset: time by which a rank's clock is ahead of the clock of the first rank (median over "
       "the ends of shared collectives); residual: median absolute difference from the offset"});
  add(problem_schema(), facts.problems);
  return report;
}

} // namespace

Report collective_tables(const CollectiveFacts& facts, const CollectiveOptions& options) {
  return tables_of(facts, options, {});
}

Result<Report> streamed_tables(CollectiveStream& stream, const CollectiveFacts& facts,
                               const CollectiveOptions& options, std::size_t most_rows,
                               RowStreams& streams) {
  Report report = tables_of(facts, options, {stream.kernels(), stream.synchronising()});
  const ReferenceForm reference{options.compat_tracelens, facts.per_node};
  streams["nccl_long"] = std::make_shared<StreamedRows<CollectiveKernel>>(
      collective_kernel_schema(reference), stream.kernels(),
      [&stream](const auto& use) { return stream.each_kernel(use); });
  if (stream.synchronising() > 0)
    streams["nccl_implicit_sync"] = std::make_shared<StreamedRows<SyncCollective>>(
        sync_collective_schema(facts.ranks, reference), stream.synchronising(),
        [&stream](const auto& use) { return stream.each_synchronising(use); });
  RowStreams few;
  for (const char* name : {"nccl_long", "nccl_implicit_sync"})
    if (const auto at = streams.find(name);
        at != streams.end() && at->second->rows() <= most_rows) {
      few.insert(*at);
      streams.erase(at);
    }
  RS_CHECK(load_rows(report, few));
  return report;
}

} // namespace rankscope
