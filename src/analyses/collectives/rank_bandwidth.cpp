#include "analyses/collectives/rank_bandwidth.h"

#include "base/sample_intervals.h"
#include "base/sort.h"

#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

struct Sum {
  double gbps = 0;
  std::size_t n = 0;

  void add(double v) {
    gbps += v;
    ++n;
  }
  [[nodiscard]] Sum without(const Sum& part) const { return {gbps - part.gbps, n - part.n}; }
  [[nodiscard]] double mean() const { return gbps / static_cast<double>(n); }
};

using Key = std::tuple<std::string_view, std::string_view, std::int64_t, std::int64_t>;

/// Returns the steps of a class, each with its position in ascending order. Collectives before the
/// first step are ignored.
std::map<std::int64_t, std::size_t> steps_of(const std::vector<const TimedCollective*>& all) {
  std::map<std::int64_t, std::size_t> out;
  for (const TimedCollective* t : all)
    if (t->first->step >= 0)
      out.emplace(t->first->step, 0);
  std::size_t next = 0;
  for (auto& [step, place] : out)
    place = next++;
  return out;
}

BandwidthClass class_of(const std::vector<const TimedCollective*>& all) {
  const TimedCollective& first = *all.front();
  BandwidthClass out;
  out.name = first.first_rank->text(first.first->name);
  out.dtype = first.first_rank->text(first.first->dtype);
  out.in_nelems = first.first->in_nelems;
  out.group_size = first.first->group_size;
  out.full_mib = first.full_mib;
  out.collectives = all.size();
  const std::map<std::int64_t, std::size_t> steps = steps_of(all);
  Sum total;
  std::vector<Sum> by_step(steps.size());
  std::map<std::size_t, std::pair<Sum, std::vector<Sum>>> by_rank;
  for (const TimedCollective* t : all) {
    const auto step = steps.find(t->first->step);
    total.add(t->bus_gbps);
    if (step != steps.end())
      by_step[step->second].add(t->bus_gbps);
    for (const auto& [rank, row] : t->match.members) {
      auto& [sum, step_sums] = by_rank[rank];
      step_sums.resize(steps.size());
      sum.add(t->bus_gbps);
      if (step != steps.end())
        step_sums[step->second].add(t->bus_gbps);
    }
  }
  for (const auto& [rank, sums] : by_rank) {
    const Sum others = total.without(sums.first);
    if (others.n == 0)
      continue;
    RankBandwidth row;
    row.rank = rank;
    row.collectives = sums.first.n;
    row.bus_gbps = sums.first.mean();
    row.others_bus_gbps = others.mean();
    std::vector<double> differences;
    for (std::size_t s = 0; s < by_step.size(); ++s)
      if (const Sum rest = by_step[s].without(sums.second[s]); sums.second[s].n > 0 && rest.n > 0)
        differences.push_back(sums.second[s].mean() - rest.mean());
    row.by_step = sample_stats(differences);
    out.ranks.push_back(row);
  }
  return out;
}

} // namespace

std::vector<BandwidthClass> bandwidth_by_rank(const CollectiveFacts& facts) {
  std::map<Key, std::vector<const TimedCollective*>> classes;
  for (const TimedCollective& t : facts.collectives)
    if (!std::isnan(t.bus_gbps))
      classes[{t.first_rank->text(t.first->name), t.first_rank->text(t.first->dtype),
               t.first->in_nelems, t.first->group_size}]
          .push_back(&t);
  std::vector<BandwidthClass> out;
  for (const auto& [key, all] : classes)
    if (BandwidthClass row_class = class_of(all); !row_class.ranks.empty())
      out.push_back(std::move(row_class));
  std::size_t rows = 0;
  for (const BandwidthClass& row_class : out)
    rows += row_class.ranks.size();
  for (BandwidthClass& row_class : out)
    for (RankBandwidth& row : row_class.ranks)
      row.difference = mean_interval(row.by_step, corrected_alpha(rows));
  sort_stably(out, std::ranges::greater(), &BandwidthClass::collectives);
  return out;
}

} // namespace rankscope
