#include "analyses/sweep/sweep_compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace rankscope {
namespace {

constexpr double kClockMs = 1e-6; ///< resolution of step times
/// Allowed relative difference between the peers' wait and the excess.
constexpr double kSameTime = 0.5;
/// Allowed relative difference in calls per step for equal work.
constexpr double kSameNumber = 0.05;

double mean_of(const StepSeries& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the time of `kind` of the peers minus that of rank `r`, in ms per step.
std::optional<MeanDifference> less_than_peers(const ConfigurationRanks& group, std::size_t r,
                                              TimeKind kind) {
  StepSeries less = against_peers(common_steps(group, kind))[r];
  for (double& v : less)
    v = -v;
  return mean_interval(less, corrected_alpha(group.ranks.size()));
}

std::optional<MeanDifference> waited_for(const ConfigurationRanks& group, std::size_t r,
                                         double excess_ms) {
  const auto exposed = less_than_peers(group, r, TimeKind::kExposedComm);
  const auto lasts = less_than_peers(group, r, TimeKind::kTotalComm);
  if (!exposed || !lasts || exposed->difference - exposed->half_width <= 0 ||
      lasts->difference - lasts->half_width <= 0 ||
      std::fabs(exposed->difference - excess_ms) > kSameTime * excess_ms ||
      std::fabs(lasts->difference - excess_ms) > kSameTime * excess_ms)
    return std::nullopt;
  return lasts;
}

/// Returns the number of GEMM kernels per step.
double gemms_of(const RankRecord& rank) {
  double out = 0;
  for (const auto& [name, kernel] : rank.gemm_kernels)
    out += static_cast<double>(kernel.count);
  return out / static_cast<double>(std::max<std::size_t>(rank.steps.size(), 1));
}

/// Compares the number of the rank's GEMM kernels with that of its peers.
void compare_gemms(const ConfigurationRanks& group, std::size_t r, SlowRank& out) {
  std::vector<double> numbers;
  for (const RankRecord* rank : group.ranks)
    numbers.push_back(gemms_of(*rank));
  out.more_gemms = numbers[r] - MedianOfOthers(numbers).without(numbers[r]);
}

/// Returns GEMM calls per step, by operator and arguments, as a mean over the ranks.
std::map<std::uint64_t, double> gemm_calls(const ConfigurationRanks& group) {
  std::map<std::uint64_t, double> out;
  for (const RankRecord* rank : group.ranks)
    for (const CallGroup& g : rank->calls) {
      if (!g.gemm || rank->steps.empty())
        continue;
      for (const CallBlock& block : g.blocks)
        out[g.key] += static_cast<double>(block.calls) /
                      static_cast<double>(rank->steps.size() * group.ranks.size());
    }
  return out;
}

} // namespace

bool work_differs(const ConfigurationRanks& a, const ConfigurationRanks& b) {
  const auto calls_a = gemm_calls(a);
  const auto calls_b = gemm_calls(b);
  double all = 0;
  double shared_a = 0;
  double shared_b = 0;
  for (const auto& [key, calls] : calls_a) {
    all += calls;
    if (const auto at = calls_b.find(key); at != calls_b.end()) {
      shared_a += calls;
      shared_b += at->second;
    }
  }
  if (calls_a.empty() || calls_b.empty())
    return false;
  return shared_a < all / 2 || std::fabs(shared_a - shared_b) > kSameNumber * shared_a;
}

SlowRanks slow_ranks(const std::vector<ConfigurationRanks>& groups) {
  std::vector<std::vector<StepSeries>> runs;
  std::vector<const ConfigurationRanks*> tested_groups;
  std::vector<StepSeries> means; // mean over the steps, by run and rank
  for (const ConfigurationRanks& group : groups) {
    if (group.ranks.size() < 2)
      continue;
    const auto steps = common_steps(group, TimeKind::kComputation);
    if (steps.empty())
      continue;
    runs.push_back(against_peers(steps));
    tested_groups.push_back(&group);
    StepSeries& mean = means.emplace_back(group.ranks.size());
    for (const std::vector<double>& by_rank : steps)
      for (std::size_t r = 0; r < by_rank.size(); ++r)
        mean[r] += by_rank[r] / static_cast<double>(steps.size());
  }
  SlowRanks out;
  std::vector<RankTest> tests = test_ranks(runs, kClockMs);
  find_changing(runs, kClockMs, tests);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const std::vector<RankExcess> ranks = std::move(tests[i].ranks);
    if (ranks.empty()) {
      if (runs[i].front().size() == 1)
        out.too_few = std::max(out.too_few, runs[i].size());
      continue;
    }
    out.tested.push_back({tested_groups[i], tests[i], mean_of(means[i])});
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const double others = means[i][r] - ranks[r].excess;
      const double percent = others > 0 ? ranks[r].excess / others * 100 : 0;
      if (percent < kDeviceSpreadPercent)
        continue;
      SlowRank slow{
          tested_groups[i], tested_groups[i]->ranks[r]->key.rank, ranks[r], percent, {}, 0};
      if (tests[i].is_unclear(ranks[r]))
        out.unclear.push_back(slow);
      if (!ranks[r].significant)
        continue;
      slow.waited = waited_for(*tested_groups[i], r, ranks[r].excess);
      compare_gemms(*tested_groups[i], r, slow);
      out.ranks.push_back(slow);
    }
  }
  return out;
}

} // namespace rankscope
