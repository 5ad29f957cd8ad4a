#include "analyses/top/top_rank.h"

#include "analyses/operators/kernel_summary.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/operators/unified_perf.h"
#include "core/gpu_work.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

/// Adds `more` to `to`; rows with the same key are combined.
template <class Row, class Key, class Add>
void add_by(std::vector<Row>& to, const std::vector<Row>& more, Key key, Add add) {
  // row index by key; keys may refer to texts of the rows, so the rows must not move
  std::map<decltype(key(more.front())), std::size_t> places;
  to.reserve(to.size() + more.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    places.emplace(key(to[i]), i);
  for (const Row& row : more) {
    const auto at = places.find(key(row));
    if (at != places.end()) {
      add(to[at->second], row);
      continue;
    }
    to.push_back(row);
    places.emplace(key(to.back()), to.size() - 1);
  }
}

OperatorTotal total_of(const UnifiedRow& row) {
  OperatorTotal out;
  out.name = row.op.name;
  out.category = row.op.category;
  out.dims = row.op.dims;
  out.types = row.op.types;
  out.count = static_cast<std::int64_t>(row.count);
  out.kernel_ns = row.kernel_ns;
  out.flops = row.timed_flops;
  out.bytes = row.timed_bytes;
  if (row.roofline) {
    out.roofline_ns = row.roofline->time_us * 1e3 * static_cast<double>(row.count);
    out.rated_ns = row.kernel_ns;
    out.compute_bound = row.roofline->compute_bound;
  }
  return out;
}

/// Returns the name of the GPU; "2 x NVIDIA H100" if the process runs kernels on several GPUs.
std::string device_of(const Trace& trace) {
  const std::vector<DeviceInfo>& devices = trace.header.devices;
  if (devices.empty())
    return {};
  const std::string& name = devices.front().name;
  const std::size_t gpus = kernel_gpus(trace);
  if (gpus < 2)
    return name;
  const bool alike =
      std::ranges::all_of(devices, [&](const DeviceInfo& d) { return d.name == name; });
  return alike ? fmt::format("{} x {}", gpus, name) : "different devices";
}

std::size_t place_of(const std::vector<RankRecord>& records, std::int64_t rank) {
  const auto at =
      std::lower_bound(records.begin(), records.end(), rank,
                       [](const RankRecord& r, std::int64_t to) { return r.key.rank < to; });
  return static_cast<std::size_t>(at - records.begin());
}

template <class Row> void insert_at(std::vector<Row>& rows, std::size_t at, Row row) {
  rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(at), std::move(row));
}

template <class Row> void erase_at(std::vector<Row>& rows, std::size_t at) {
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
}

} // namespace

void TopParts::put(TopRank rank, RankRecord record, RankCollectives rank_collectives,
                   RankIdentity identity, std::optional<RankGraph> graph) {
  const std::int64_t number = record.key.rank;
  drop(number);
  const std::size_t at = place_of(records, number);
  insert_at(ranks, at, std::move(rank));
  insert_at(records, at, std::move(record));
  insert_at(collectives, at, std::move(rank_collectives));
  insert_at(identities, at, std::move(identity));
  if (graph)
    insert_at(graphs, at, std::move(*graph));
}

void TopParts::drop(std::int64_t rank) {
  const std::size_t at = place_of(records, rank);
  if (at == records.size() || records[at].key.rank != rank)
    return;
  erase_at(ranks, at);
  erase_at(records, at);
  erase_at(collectives, at);
  erase_at(identities, at);
  if (!graphs.empty())
    erase_at(graphs, at);
}

void add_totals(std::vector<KernelTotal>& to, const std::vector<KernelTotal>& more) {
  add_by(
      to, more, [](const KernelTotal& r) { return std::string_view(r.name); },
      [](KernelTotal& sum, const KernelTotal& r) {
        sum.sum_ns += r.sum_ns;
        sum.count += r.count;
        sum.max_ns = std::max(sum.max_ns, r.max_ns);
      });
}

void add_totals(std::vector<OperatorTotal>& to, const std::vector<OperatorTotal>& more) {
  add_by(
      to, more,
      [](const OperatorTotal& r) {
        return std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>(
            r.name, r.category, r.dims, r.types);
      },
      [](OperatorTotal& sum, const OperatorTotal& r) {
        sum.count += r.count;
        sum.kernel_ns += r.kernel_ns;
        sum.flops.add(r.flops.amount, r.flops.ns);
        sum.bytes.add(r.bytes.amount, r.bytes.ns);
        sum.roofline_ns += r.roofline_ns;
        sum.rated_ns += r.rated_ns;
        sum.compute_bound = r.rated_ns > 0 ? r.compute_bound : sum.compute_bound;
      });
}

void add_totals(std::vector<CategoryTotal>& to, const std::vector<CategoryTotal>& more) {
  add_by(
      to, more, [](const CategoryTotal& r) { return std::string_view(r.category); },
      [](CategoryTotal& sum, const CategoryTotal& r) {
        sum.count += r.count;
        sum.direct_ns += r.direct_ns;
      });
}

Result<TopRank> top_rank_of(const LoadedTrace& trace, const ReportOptions& options) {
  TopRank out;
  out.path = trace.trace.path;
  out.device = device_of(trace.trace);
  out.gpu = options.gpu_arch;
  std::vector<KernelTotal> kernels;
  for (const KernelRow& row : trace.shared(KernelRowsKey{options}))
    kernels.push_back({std::string(row.kernel), row.sum_ns, row.count, row.max_ns});
  add_totals(out.kernels, kernels);
  const Result<UnifiedPerf>& unified = trace.shared(UnifiedPerfKey{options});
  if (!unified)
    return unified.error();
  std::vector<OperatorTotal> operators;
  for (const UnifiedRow& row : unified->rows)
    operators.push_back(total_of(row));
  add_totals(out.operators, operators);
  out.unlinked_ns = unified->unlinked_ns;
  for (const OpsCategoryRow& row : trace.shared(OpsCategoriesKey{options}))
    out.categories.push_back({std::string(row.category), row.count, row.direct_ns});
  out.idle = trace.shared(IdleKey{options});
  return out;
}

} // namespace rankscope
