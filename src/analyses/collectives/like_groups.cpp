#include "analyses/collectives/like_groups.h"

#include "analyses/collectives/collective_sums.h"
#include "base/rank_excess.h"
#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {

std::vector<std::string> rank_spreads(const CollectiveFacts& facts) {
  std::vector<std::string> out;
  const auto add = [&out](const char* what, std::vector<std::pair<double, std::int64_t>> values) {
    if (values.size() < 2)
      return;
    const auto most = *std::max_element(values.begin(), values.end());
    std::vector<double> sorted;
    for (const auto& [value, rank] : values)
      sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    out.push_back(fmt::format("{} of {} ranks: {:.3f} to {:.3f}, quartiles {:.3f} {:.3f} {:.3f}; "
                              "most on rank {}",
                              what, sorted.size(), sorted.front(), sorted.back(),
                              quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75),
                              most.second));
  };
  std::vector<std::pair<double, std::int64_t>> comm;
  std::vector<std::pair<double, std::int64_t>> exposed;
  std::vector<std::pair<double, std::int64_t>> late;
  for (const ExposedRank& r : facts.exposed_ranks) {
    comm.emplace_back(ns_to_ms(r.comm_ns), r.rank);
    exposed.emplace_back(ns_to_ms(r.exposed_ns), r.rank);
  }
  for (const Straggler& s : facts.stragglers)
    if (!s.late_us.empty())
      late.emplace_back(trimmed_mean_of(s.late_us), s.rank);
  add("communication (ms)", std::move(comm));
  add("exposed (ms)", std::move(exposed));
  add("later than the others (us)", std::move(late));
  return out;
}

std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows) {
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  struct Sum {
    SyncSummary row;
    std::size_t groups = 0;
  };
  std::map<Key, Sum> sums;
  const auto mean_into = [](Stats& to, const Stats& more) {
    if (more.count == 0 || std::isnan(more.mean))
      return;
    to.sum += more.mean * static_cast<double>(more.count);
    to.count += more.count;
    to.mean = to.sum / static_cast<double>(to.count);
  };
  for (const SyncSummary& row : rows) {
    Sum& sum = sums[{row.name, row.dtype, row.in_nelems, row.group_size}];
    if (sum.groups++ == 0) {
      sum.row.name = row.name;
      sum.row.dtype = row.dtype;
      sum.row.group = row.group;
      sum.row.in_nelems = row.in_nelems;
      sum.row.group_size = row.group_size;
      sum.row.full_mib = row.full_mib;
    }
    for (Stats SyncSummary::*stats :
         {&SyncSummary::latency_us, &SyncSummary::start_skew_us, &SyncSummary::end_skew_us,
          &SyncSummary::algo_gbps, &SyncSummary::bus_gbps})
      mean_into(sum.row.*stats, row.*stats);
    sum.row.count += row.count;
    sum.row.total_latency_ms += row.total_latency_ms;
  }
  std::vector<SyncSummary> out;
  for (auto& [key, sum] : sums) {
    if (sum.groups > 1)
      sum.row.group = fmt::format("{} groups", sum.groups);
    out.push_back(std::move(sum.row));
  }
  largest_first(out, [](const SyncSummary& s) { return s.total_latency_ms; });
  return out;
}

} // namespace rankscope
