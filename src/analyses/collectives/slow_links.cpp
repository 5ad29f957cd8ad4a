#include "analyses/collectives/slow_links.h"

#include "base/rank_excess.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

constexpr double kLeastBelow = 10;         ///< percent
constexpr double kLinkLevel = 0.004;       ///< probability of a false finding
constexpr double kBandwidthScatter = 0.01; ///< groups that differ by a smaller fraction count as
                                           ///< equal

} // namespace

std::vector<SlowGroup> slow_groups(std::span<const SyncSummary> rows) {
  using Kind = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string>;
  std::map<Kind, std::vector<const SyncSummary*>> kinds;
  for (const SyncSummary& row : rows)
    if (row.count > 0 && row.bus_gbps.mean > 0)
      kinds[{row.name, row.dtype, row.in_nelems, row.group_size, row.node_span}].push_back(&row);
  std::vector<std::vector<StepSeries>> runs;
  std::vector<const std::vector<const SyncSummary*>*> kind_groups;
  for (const auto& [kind, groups] : kinds) {
    if (groups.size() <= kFewestPeers)
      continue;
    std::vector<StepSeries> run;
    for (const SyncSummary* row : groups)
      run.push_back({-std::log(row->bus_gbps.mean)});
    runs.push_back(std::move(run));
    kind_groups.push_back(&groups);
  }
  const std::vector<RankTest> tests = test_ranks(runs, kBandwidthScatter, kLinkLevel);
  std::vector<SlowGroup> out;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    std::vector<double> bandwidths;
    for (const SyncSummary* row : *kind_groups[i])
      bandwidths.push_back(row->bus_gbps.mean);
    const MedianOfOthers usual(bandwidths);
    for (std::size_t g = 0; g < tests[i].ranks.size(); ++g)
      if (tests[i].ranks[g].significant)
        out.push_back({(*kind_groups[i])[g], bandwidths[g], usual.without(bandwidths[g]),
                       bandwidths.size() - 1});
  }
  std::erase_if(out, [](const SlowGroup& g) { return g.percent_below() < kLeastBelow; });
  std::ranges::stable_sort(out, std::ranges::greater(), &SlowGroup::percent_below);
  std::set<std::string> named;
  std::erase_if(out, [&](const SlowGroup& g) { return !named.insert(g.row->group).second; });
  return out;
}

} // namespace rankscope
