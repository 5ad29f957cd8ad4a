#include "analyses/collectives/slow_links.h"

#include "analyses/collectives/collective_sums.h"
#include "base/rank_excess.h"
#include "base/sort.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

constexpr double kLeastBelow = 10;         ///< percent
constexpr double kLinkLevel = 0.004;       ///< probability of a false finding
constexpr double kBandwidthScatter = 0.01; ///< groups that differ by a smaller fraction count as
                                           ///< equal
constexpr std::size_t kFewestLinkGroups = 3;
constexpr std::size_t kFewestLinkSteps = 3; ///< for groups that their spread alone does not compare
constexpr double kLeastLinkMib = 1;         ///< the same
/// So many groups show how much equal groups differ: each of at least two steps is a sample. A
/// single sample needs an effect that grows with the number of groups, 30 % of the bandwidth for
/// 2048.
constexpr std::size_t kManyLinkGroups = 32;
/// Standard deviation between the logarithms of the bandwidths of equal groups, which few groups
/// do not show.
constexpr double kUsualLinkSpread = 0.04;

/// The groups with the same kind of collective.
using LinkGroups = std::vector<const SyncSummary*>;

/// The groups of a kind are compared with each other.
using LinkKind = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string>;
LinkKind link_kind(const SyncSummary& row) {
  return {row.name, row.dtype, row.in_nelems, row.group_size, row.node_span};
}

/// Returns the groups with known bandwidths, by kind.
std::vector<LinkGroups> groups_by_kind(std::span<const SyncSummary> rows) {
  std::map<LinkKind, LinkGroups> kinds;
  for (const SyncSummary& row : rows)
    if (row.count > 0 && row.bus_gbps.mean > 0)
      kinds[link_kind(row)].push_back(&row);
  std::vector<LinkGroups> out;
  for (auto& [kind, groups] : kinds)
    out.push_back(std::move(groups));
  return out;
}

[[nodiscard]] bool are_many(const LinkGroups& groups) {
  return groups.size() > kFewestPeers;
}

/// Returns the negative logarithms of the bandwidths in the steps that all groups have, as
/// [step][group]. A larger value is slower.
std::vector<std::vector<double>> slowness_by_step(const LinkGroups& groups) {
  std::map<std::int64_t, std::vector<double>> steps;
  for (const SyncSummary* row : groups)
    for (const StepMean& bus_gbps : row->step_bus_gbps)
      if (bus_gbps.mean > 0)
        steps[bus_gbps.step].push_back(-std::log(bus_gbps.mean));
  std::vector<std::vector<double>> out;
  for (auto& [step, values] : steps)
    if (values.size() == groups.size())
      out.push_back(std::move(values));
  return out;
}

/// Returns whether the bandwidths of a few groups could be compared if there were enough of them.
[[nodiscard]] bool are_few(const LinkGroups& groups) {
  return !are_many(groups) && groups.size() > 1 && groups.front()->full_mib >= kLeastLinkMib;
}

/// Returns why a few groups cannot be compared; empty if they can.
std::optional<UntestedLinks::Reason> why_untested(const LinkGroups& groups) {
  if (groups.size() < kFewestLinkGroups)
    return UntestedLinks::Reason::kFewGroups;
  if (slowness_by_step(groups).size() < kFewestLinkSteps)
    return UntestedLinks::Reason::kFewSteps;
  return std::nullopt;
}

/// The samples of several kinds, as for test_ranks().
struct LinkSamples {
  std::vector<std::vector<StepSeries>> runs;
  std::vector<const LinkGroups*> groups;
};

/// Returns one sample per group, or per group and step, of kinds with many groups.
LinkSamples samples_of_groups(const std::vector<LinkGroups>& kinds) {
  LinkSamples out;
  for (const LinkGroups& groups : kinds) {
    if (!are_many(groups))
      continue;
    out.groups.push_back(&groups);
    std::vector<StepSeries>& run = out.runs.emplace_back();
    if (groups.size() >= kManyLinkGroups)
      if (const auto steps = slowness_by_step(groups); steps.size() > 1) {
        run = against_peers(steps);
        continue;
      }
    for (const SyncSummary* row : groups)
      run.push_back({-std::log(row->bus_gbps.mean)});
  }
  return out;
}

/// Returns one sample per group and step, of kinds with few groups.
LinkSamples samples_of_steps(const std::vector<LinkGroups>& kinds) {
  LinkSamples out;
  for (const LinkGroups& groups : kinds) {
    if (!are_few(groups) || why_untested(groups))
      continue;
    out.runs.push_back(against_peers(slowness_by_step(groups)));
    out.groups.push_back(&groups);
  }
  return out;
}

void add_slow_groups(const LinkSamples& samples, double usual_spread, std::vector<SlowGroup>& out) {
  const std::vector<RankTest> tests =
      test_ranks(samples.runs, kBandwidthScatter, kLinkLevel, usual_spread);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const LinkGroups& groups = *samples.groups[i];
    std::vector<double> bandwidths;
    for (const SyncSummary* row : groups)
      bandwidths.push_back(row->bus_gbps.mean);
    const MedianOfOthers usual(bandwidths);
    for (std::size_t g = 0; g < tests[i].ranks.size(); ++g)
      if (const RankExcess& excess = tests[i].ranks[g]; excess.significant)
        out.push_back({groups[g], bandwidths[g], usual.without(bandwidths[g]), groups.size() - 1,
                       excess.half_width, tests[i].steps > 1 ? tests[i].steps : 0});
  }
}

} // namespace

std::vector<SlowGroup> slow_groups(std::span<const SyncSummary> rows) {
  const std::vector<LinkGroups> kinds = groups_by_kind(rows);
  std::vector<SlowGroup> out;
  add_slow_groups(samples_of_groups(kinds), 0, out);
  add_slow_groups(samples_of_steps(kinds), kUsualLinkSpread, out);
  std::erase_if(out, [](const SlowGroup& g) { return g.percent_below() < kLeastBelow; });
  sort_stably(out, std::ranges::greater(), &SlowGroup::percent_below);
  std::set<std::string> named;
  std::erase_if(out, [&](const SlowGroup& g) { return !named.insert(g.row->group).second; });
  return out;
}

std::vector<std::int64_t> shared_members(std::span<const SlowGroup> slow,
                                         std::span<const SyncSummary> rows, std::int64_t per_node) {
  const auto members_of = [per_node](const SyncSummary& row) {
    std::set<std::int64_t> out;
    for (const std::int64_t rank : numbers_in(row.group_ranks))
      out.insert(rank / per_node);
    return out;
  };
  std::map<std::int64_t, std::size_t> slow_groups_of; // by member
  std::set<std::string> groups;
  std::set<LinkKind> kinds;
  for (const SlowGroup& group : slow) {
    groups.insert(group.row->group);
    kinds.insert(link_kind(*group.row));
    for (const std::int64_t member : members_of(*group.row))
      ++slow_groups_of[member];
  }
  std::erase_if(slow_groups_of, [&slow](const auto& m) { return m.second < slow.size(); });
  if (slow.size() < 2 || slow_groups_of.empty())
    return {};
  for (const LinkGroups& compared : groups_by_kind(rows))
    for (const SyncSummary* row : compared)
      if (kinds.contains(link_kind(*row)) && !groups.contains(row->group))
        for (const std::int64_t member : members_of(*row))
          slow_groups_of.erase(member);
  std::vector<std::int64_t> out;
  for (const auto& [member, count] : slow_groups_of)
    out.push_back(member);
  return out;
}

std::vector<UntestedLinks> untested_links(std::span<const SyncSummary> rows) {
  struct Untested {
    const LinkGroups* groups = nullptr;
    UntestedLinks::Reason reason = UntestedLinks::Reason::kFewGroups;
  };
  const std::vector<LinkGroups> kinds = groups_by_kind(rows);
  std::vector<Untested> untested;
  std::set<std::string> tested; // names of groups
  for (const LinkGroups& groups : kinds) {
    if (!are_many(groups) && !are_few(groups))
      continue;
    if (const auto reason = are_few(groups) ? why_untested(groups) : std::nullopt) {
      untested.push_back({&groups, *reason});
      continue;
    }
    for (const SyncSummary* row : groups)
      tested.insert(row->group);
  }
  std::ranges::sort(untested, {}, [](const Untested& u) { return u.groups->front(); });
  std::vector<UntestedLinks> out;
  std::set<std::pair<std::string, std::int64_t>> named;
  for (const auto& [groups, reason] : untested) {
    const SyncSummary& first = *groups->front();
    const bool any = std::ranges::any_of(
        *groups, [&](const SyncSummary* row) { return !tested.contains(row->group); });
    if (any && named.emplace(first.name, first.group_size).second)
      out.push_back({first.name, first.group_size, reason});
  }
  return out;
}

} // namespace rankscope
