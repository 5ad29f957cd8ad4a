#include "analyses/sweep/sweep_judgement.h"

#include "base/sort.h"

namespace rankscope {
namespace {

/// Returns two configurations that cannot be ranked because they do different work.
std::optional<std::pair<const ConfigurationRanks*, const ConfigurationRanks*>>
unequal_work(const std::vector<ConfigurationRanks>& groups) {
  for (std::size_t i = 1; i < groups.size(); ++i)
    if (work_differs(groups[0], groups[i]))
      return std::pair(&groups[0], &groups[i]);
  return std::nullopt;
}

} // namespace

SweepJudgement judge(const std::vector<RankRecord>& records) {
  SweepJudgement out;
  out.groups = by_configuration(records);
  out.unequal = unequal_work(out.groups);
  if (!out.unequal) {
    out.total = rank_by_steps(out.groups, TimeKind::kTotal);
    out.comm = rank_by_steps(out.groups, TimeKind::kExposedComm);
  }
  out.slow = slow_ranks(out.groups);
  // three checks of each other configuration against the best one, and the contention of each
  // configuration
  const std::size_t n = out.groups.size();
  out.cause_comparisons = n > 1 ? 3 * (n - 1) + n : n;
  out.cause_alpha = corrected_alpha(out.cause_comparisons);
  for (const ConfigurationRanks& group : out.groups)
    out.contention.push_back(contention_of(group));
  if (!out.total)
    return out;
  for (const AgainstBest& o : out.total->others) {
    const auto longer = computes_longer(*out.total, *o.group);
    if (!longer || longer->difference - longer->half_width <= 0)
      continue;
    out.causes.push_back(cause_of(*out.total->best, *o.group, out.cause_alpha));
    out.causes.back().longer = *longer;
  }
  sort_stably(out.causes, [](const Cause& a, const Cause& b) {
    return a.longer.difference > b.longer.difference;
  });
  return out;
}

} // namespace rankscope
