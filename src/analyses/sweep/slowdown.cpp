#include "analyses/sweep/slowdown.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace rankscope {
namespace {

/// Sums of squares and products about the means of a group, for one block of steps.
struct Cluster {
  double xx = 0, xy = 0;
};

CallBlock total_of(const CallGroup& group) {
  CallBlock out;
  for (const CallBlock& b : group.blocks) {
    out.calls += b.calls;
    out.share += b.share;
    out.share_share += b.share_share;
    out.speed += b.speed;
    out.share_speed += b.share_speed;
    out.alone += b.alone;
    out.alone_us += b.alone_us;
    out.alone_speed += b.alone_speed;
  }
  return out;
}

/// Adds one shape of one rank, and returns its number of calls with overlap. The unit of speed is
/// the mean speed of its calls without overlap.
std::size_t add_group(const CallGroup& group, std::vector<Cluster>& clusters) {
  const CallBlock all = total_of(group);
  if (all.alone == 0 || all.alone == all.calls || !(all.alone_us > 0))
    return 0;
  const auto n = static_cast<double>(all.calls);
  const double x = all.share / n;
  const double y = all.speed / n;
  const double unit = all.alone_speed / static_cast<double>(all.alone);
  clusters.resize(std::max(clusters.size(), group.blocks.size()));
  for (std::size_t i = 0; i < group.blocks.size(); ++i) {
    const CallBlock& b = group.blocks[i];
    const auto m = static_cast<double>(b.calls);
    clusters[i].xx += b.share_share - 2 * x * b.share + m * x * x;
    clusters[i].xy += (b.share_speed - x * b.speed - y * b.share + m * x * y) / unit;
  }
  return static_cast<std::size_t>(all.calls - all.alone);
}

/// Returns the mean durations of a rank's calls without overlapping collectives, by key.
std::unordered_map<std::uint64_t, double> alone_means(const RankRecord& rank, bool gemm) {
  std::unordered_map<std::uint64_t, double> out;
  for (const CallGroup& group : rank.calls) {
    const CallBlock all = total_of(group);
    if (group.gemm == gemm && all.alone > 0 && all.alone_us > 0)
      out.emplace(group.key, all.alone_us / static_cast<double>(all.alone));
  }
  return out;
}

/// Time of the calls without overlap in a block: measured, and expected from the given means.
struct Against {
  double us = 0, expected_us = 0;
};

/// Returns, for each block, the ratio of the rank's measured time to the time expected from
/// `means`. Uses only keys that are also in `both`.
std::map<std::size_t, double> ratios_of(const RankRecord& rank,
                                        const std::unordered_map<std::uint64_t, double>& means,
                                        const std::unordered_map<std::uint64_t, double>& both,
                                        std::size_t& calls) {
  std::map<std::size_t, Against> sums;
  for (const CallGroup& group : rank.calls) {
    const auto mean = means.find(group.key);
    if (mean == means.end() || both.find(group.key) == both.end())
      continue;
    for (std::size_t i = 0; i < group.blocks.size(); ++i) {
      sums[i].us += group.blocks[i].alone_us;
      sums[i].expected_us += static_cast<double>(group.blocks[i].alone) * mean->second;
      calls += static_cast<std::size_t>(group.blocks[i].alone);
    }
  }
  std::map<std::size_t, double> out;
  for (const auto& [block, sum] : sums)
    if (sum.expected_us > 0)
      out.emplace(block, sum.us / sum.expected_us);
  return out;
}

std::vector<double> medians(const std::map<std::size_t, std::vector<double>>& by_block) {
  std::vector<double> out;
  for (const auto& [block, values] : by_block)
    out.push_back(quantile_of(values, 0.5));
  return out;
}

double share_of(const SampleStats& s) {
  return s.variance / static_cast<double>(s.n);
}

/// Returns the degrees of freedom of the sum of two independent variances (Satterthwaite 1946).
double joint_degrees(double a, double a_degrees, double b, double b_degrees) {
  const double spread = a * a / a_degrees + b * b / b_degrees;
  return spread > 0 ? (a + b) * (a + b) / spread : a_degrees + b_degrees;
}

} // namespace

MeanDifference Estimate::interval(double alpha) const {
  return {value, student_t(degrees, alpha) * std::sqrt(variance)};
}

Estimate operator-(const Estimate& test, const Estimate& base) {
  return {test.value - base.value, test.variance + base.variance,
          joint_degrees(test.variance, test.degrees, base.variance, base.degrees),
          test.calls + base.calls};
}

std::optional<Estimate> contention_of(const ConfigurationRanks& group) {
  std::vector<Cluster> all;
  std::size_t calls = 0;
  bool one_step = true;
  for (const RankRecord* rank : group.ranks) {
    std::vector<Cluster> rank_clusters;
    for (const CallGroup& g : rank->calls)
      if (g.gemm)
        calls += add_group(g, rank_clusters);
    one_step = one_step && rank_clusters.size() < 2;
    all.insert(all.end(), rank_clusters.begin(), rank_clusters.end());
  }
  constexpr double kMostOfSpeed = 0.95; // a larger loss is not from contention
  double xx = 0;
  double xy = 0;
  for (const Cluster& c : all) {
    xx += c.xx;
    xy += c.xy;
  }
  if (one_step || !(xx > 1e-9))
    return std::nullopt;
  const double slope = xy / xx; // the speed falls from 1 to 1 + slope
  if (!(slope > -kMostOfSpeed))
    return std::nullopt;
  double scores = 0;
  for (const Cluster& c : all)
    scores += (c.xy - slope * c.xx) * (c.xy - slope * c.xx);
  const auto n = static_cast<double>(all.size());
  Estimate out;
  out.calls = calls;
  out.value = 1 / (1 + slope) - 1;
  out.degrees = n - 1;
  out.variance = n / (n - 1) * scores / (xx * xx) / std::pow(1 + slope, 4);
  return out;
}

std::optional<Estimate> alone_factor(const ConfigurationRanks& base, const ConfigurationRanks& test,
                                     bool gemm) {
  std::map<std::size_t, std::vector<double>> base_ratios, test_ratios;
  std::size_t calls = 0;
  for (const RankRecord* rank : base.ranks) {
    const auto other = std::ranges::find_if(
        test.ranks, [&](const RankRecord* r) { return r->key.rank == rank->key.rank; });
    if (other == test.ranks.end())
      continue;
    const auto means = alone_means(*rank, gemm);
    const auto others = alone_means(**other, gemm);
    for (const auto& [block, ratio] : ratios_of(*rank, means, others, calls))
      base_ratios[block].push_back(ratio);
    for (const auto& [block, ratio] : ratios_of(**other, means, others, calls))
      test_ratios[block].push_back(ratio);
  }
  const SampleStats a = sample_stats(medians(base_ratios));
  const SampleStats b = sample_stats(medians(test_ratios));
  if (a.n < 2 || b.n < 2 || !(a.mean > 0))
    return std::nullopt;
  Estimate out;
  out.calls = calls;
  out.value = b.mean / a.mean - 1;
  out.variance = share_of(a) + share_of(b);
  out.degrees = joint_degrees(share_of(a), static_cast<double>(a.n - 1), share_of(b),
                              static_cast<double>(b.n - 1));
  return out;
}

std::optional<Estimate> Cause::more_contention() const {
  if (!test_contention || !base_contention)
    return std::nullopt;
  return *test_contention - *base_contention;
}

bool Cause::is_slowdown(const std::optional<Estimate>& effect) const {
  if (!effect)
    return false;
  const MeanDifference d = effect->interval(alpha);
  return d.difference - d.half_width > kLeastSlowdown;
}

bool Cause::general() const {
  if (!is_slowdown(gemms_alone) || !is_slowdown(others_alone))
    return false;
  const MeanDifference apart = (*gemms_alone - *others_alone).interval(alpha);
  return std::fabs(apart.difference) <= apart.half_width + kLeastSlowdown;
}

Cause cause_of(const ConfigurationRanks& base, const ConfigurationRanks& test, double alpha) {
  Cause out;
  out.base = &base;
  out.test = &test;
  out.alpha = alpha;
  out.base_contention = contention_of(base);
  out.test_contention = contention_of(test);
  out.gemms_alone = alone_factor(base, test, true);
  out.others_alone = alone_factor(base, test, false);
  return out;
}

} // namespace rankscope
