#include "base/rank_excess.h"

#include "base/invariant.h"
#include "base/sample_intervals.h"
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>

namespace rankscope {
namespace {

constexpr double kMadToDeviation = 1.4826; ///< standard deviation / MAD of a normal distribution
constexpr double kUpperDecile = 1.2816;    ///< upper decile of a normal distribution, in standard
                                           ///< deviations
constexpr std::size_t kFewestTrimmed = 5;  ///< with fewer steps, the mean is not trimmed
constexpr double kTrimmed = 0.2;           ///< fraction trimmed on each side
/// The other ranks add at most this many degrees of freedom per degree of the rank itself. With
/// more, the variance of a noisy rank would be too small if there are only two steps.
constexpr double kMostLent = 3;
/// With fewer ranks, the spread between ranks cannot be estimated well.
constexpr std::size_t kFewRanks = 5;
/// In a run of this many ranks, some have little noise by chance (for example, if a clock has two
/// modes and all steps but one are in the same mode). Then the scatter of the means around their
/// median is the lower bound of the noise of each rank.
constexpr std::size_t kManyRanks = 32;
/// With fewer steps, a rank's own variance is often small by chance (for example, if all its steps
/// are in one of two modes of a clock). The correlation of steps cannot be estimated well either.
constexpr std::size_t kEnoughSteps = 8;
/// The most degrees of freedom of the variance that is pooled over all ranks, because ranks may
/// differ in noise.
constexpr double kMostPooled = 12;
/// With fewer samples in total, the correlation of steps cannot be estimated.
constexpr std::size_t kFewestForDependence = 21;
constexpr std::size_t kFewestInSeries = 4;
/// Degrees of freedom of Student's t for a single step: heavy tails, because one step does not show
/// its tails.
constexpr double kOneStepDegrees = 4;

/// A trimmed mean with the variance of one sample (Winsorised; Tukey and McLaughlin 1963). The
/// variance of the mean is `variance` / n.
struct TrimmedMean {
  double mean = 0;
  double variance = 0;
  double degrees = 0;
  std::size_t n = 0;
};

TrimmedMean trimmed_mean(StepSeries values) {
  TrimmedMean out;
  out.n = values.size();
  if (values.empty())
    return out;
  std::sort(values.begin(), values.end());
  const auto cut = values.size() < kFewestTrimmed
                       ? std::size_t{0}
                       : static_cast<std::size_t>(kTrimmed * static_cast<double>(values.size()));
  const std::size_t kept = values.size() - 2 * cut;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
  out.mean = std::accumulate(first, first + static_cast<std::ptrdiff_t>(kept), 0.0) /
             static_cast<double>(kept);
  for (std::size_t i = 0; i < cut; ++i) {
    values[i] = values[cut];
    values[values.size() - 1 - i] = values[values.size() - 1 - cut];
  }
  const auto n = static_cast<double>(values.size());
  const auto h = static_cast<double>(kept);
  if (kept > 1) {
    out.degrees = h - 1;
    out.variance = sample_stats(values).variance * n * (n - 1) / (h * (h - 1));
  }
  return out;
}

/// First and second derivative of log gamma for x > 0: recurrence up to 6, then the asymptotic
/// series (Abramowitz and Stegun 6.3.18, 6.4.12).
double digamma(double x) {
  double out = 0;
  for (; x < 6; ++x)
    out -= 1 / x;
  const double z = 1 / (x * x);
  return out + std::log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z / 252));
}

double trigamma(double x) {
  double out = 0;
  for (; x < 6; ++x)
    out += 1 / (x * x);
  const double z = 1 / (x * x);
  return out + 1 / x + z / 2 + z / x * (1.0 / 6 - z * (1.0 / 30 - z / 42));
}

/// Returns x with trigamma(x) = y, by bisection on the logarithm of x.
double inverse_trigamma(double y) {
  double low = -12;
  double high = 12;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (trigamma(std::exp(middle)) > y ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// The distribution of the ranks' variances: scaled inverse chi-square with scale `variance` and
/// `degrees` of freedom. Infinite degrees mean that all ranks have the same variance. It is fitted
/// to the logarithms of the sample variances (Smyth 2004, 3.3).
struct Prior {
  double variance = 0;
  double degrees = 0;
};

Prior prior_of(const std::vector<TrimmedMean>& ranks) {
  std::vector<double> logs;
  double spread = 0;
  double pooled = 0;
  double pooled_degrees = 0;
  for (const TrimmedMean& r : ranks) {
    pooled += r.degrees * r.variance;
    pooled_degrees += r.degrees;
    if (!(r.variance > 0) || !(r.degrees > 0))
      continue;
    logs.push_back(std::log(r.variance) - digamma(r.degrees / 2) + std::log(r.degrees / 2));
    spread += trigamma(r.degrees / 2);
  }
  if (pooled_degrees > 0)
    pooled /= pooled_degrees;
  if (logs.size() < 3) // two variances do not determine a distribution
    return {pooled, logs.size() < ranks.size() ? 0 : pooled_degrees};
  const SampleStats s = sample_stats(logs);
  const double excess = s.variance - spread / static_cast<double>(logs.size());
  if (!(excess > 0))
    return {pooled, std::numeric_limits<double>::infinity()};
  const double degrees = 2 * inverse_trigamma(excess);
  return {std::exp(s.mean + digamma(degrees / 2) - std::log(degrees / 2)), degrees};
}

/// The noise of all ranks of all runs together.
struct PooledNoise {
  double variance = 0, degrees = 0; ///< variance of one step of a rank, and its degrees of freedom
  double dependence = kAssumedDependence;
  double margin = 0; ///< half the standard error of the dependence
};

PooledNoise pooled_noise(std::span<const std::vector<StepSeries>> runs) {
  PooledNoise out;
  std::vector<StepSeries> series;
  double samples = 0;
  for (const std::vector<StepSeries>& run : runs)
    for (const StepSeries& rank : run) {
      const TrimmedMean m = trimmed_mean(rank);
      out.variance += m.degrees * m.variance;
      out.degrees += m.degrees;
      if (rank.size() < kFewestInSeries)
        continue;
      series.push_back(rank);
      samples += static_cast<double>(rank.size());
    }
  out.variance /= std::max(out.degrees, 1.0);
  out.dependence = lag1_dependence(series);
  out.margin = 0.5 / std::sqrt(std::max(samples, 1.0));
  return out;
}

/// The robust scatter of the means of all ranks except one. It includes constant differences
/// between ranks, and the effect of correlated steps that a rank's own scatter does not show.
class PeerSpread {
public:
  explicit PeerSpread(std::vector<double> means) : sorted_(std::move(means)) {
    std::sort(sorted_.begin(), sorted_.end());
  }

  struct Spread {
    double middle = 0, deviation = 0; ///< robust: median, and standard deviation from the MAD
    double upper = 0;                 ///< standard deviation from the upper decile: two modes are
                                      ///< not outliers
    double plain = 0;                 ///< plain standard deviation
    double lower = 0;                 ///< standard deviation without the largest mean
  };
  /// Returns the spread of the means of all ranks except one rank with the mean `mean`.
  [[nodiscard]] Spread without(double mean) {
    if (sorted_.size() > kMany) { // with many ranks, one rank has no effect
      if (!all_)
        all_ = spread_of(sorted_);
      return *all_;
    }
    std::vector<double> peers = sorted_;
    const auto at = std::lower_bound(peers.begin(), peers.end(), mean);
    RS_ASSERT(at != peers.end() && *at == mean);
    peers.erase(at);
    return spread_of(std::move(peers));
  }

private:
  static constexpr std::size_t kMany = 64;

  static Spread spread_of(std::vector<double> peers) {
    if (peers.empty())
      return {};
    Spread out;
    out.middle = quantile(peers, 0.5); // `peers` is sorted
    out.upper = (quantile(peers, 0.9) - out.middle) / kUpperDecile;
    out.plain = std::sqrt(sample_stats(peers).variance);
    out.lower =
        std::sqrt(sample_stats(std::vector<double>(peers.begin(), peers.end() - 1)).variance);
    for (double& v : peers)
      v = std::fabs(v - out.middle);
    out.deviation = kMadToDeviation * quantile_of(std::move(peers), 0.5);
    return out;
  }

  std::vector<double> sorted_;
  std::optional<Spread> all_;
};

/// The reference values with which the excess of a rank is compared.
struct Scatter {
  double error = 0; ///< standard error of the excess
  double degrees = 1;
  double usual = 0; ///< excess of a typical rank: above 0 if the noise is skewed
};

/// Computes the scatter of runs with one step, from the spread between the ranks.
std::vector<Scatter> scatter_of_one_step(const std::vector<TrimmedMean>& means,
                                         std::vector<RankExcess>& ranks, double resolution) {
  if (means.size() <= kFewestPeers)
    return {};
  std::vector<double> values;
  for (const TrimmedMean& m : means)
    values.push_back(m.mean);
  PeerSpread spread(values);
  const auto peers = static_cast<double>(means.size() - 1);
  std::vector<Scatter> out;
  for (std::size_t r = 0; r < means.size(); ++r) {
    const PeerSpread::Spread others = spread.without(values[r]);
    const double deviation = std::max(others.deviation, others.upper);
    ranks[r].excess = values[r] - others.middle;
    // std::hypot would be the only symbol of the program that needs glibc 2.35 instead of 2.34
    out.push_back({std::sqrt((deviation * deviation + resolution * resolution) * (1 + 1 / peers)),
                   std::min(peers - 1, kOneStepDegrees)});
  }
  return out;
}

std::vector<Scatter> scatter_of_steps(const std::vector<TrimmedMean>& means, double dependence,
                                      const PooledNoise& pooled, double resolution,
                                      double usual_spread) {
  const Prior prior = prior_of(means);
  const double upper = std::min(kMostDependence, dependence + pooled.margin);
  double all_degrees = 0;
  std::vector<double> values;
  std::vector<double> errors; // variances of the mean of each rank
  std::vector<double> degrees;
  for (const TrimmedMean& m : means) {
    all_degrees += m.degrees;
    values.push_back(m.mean);
  }
  for (const TrimmedMean& m : means) {
    const double lent = std::min(prior.degrees, kMostLent * m.degrees);
    double moderated =
        (lent * prior.variance + m.degrees * m.variance) / std::max(lent + m.degrees, 1e-9);
    const auto n = static_cast<double>(m.n);
    const double independent = independent_samples(n, upper);
    degrees.push_back(
        std::max(1.0, std::min(lent + m.degrees, all_degrees) * independent / std::max(n, 1.0)));
    if (m.n < kEnoughSteps && pooled.variance > moderated) {
      moderated = pooled.variance;
      degrees.back() = std::max(degrees.back(), std::min(kMostPooled, pooled.degrees));
    }
    errors.push_back((moderated + resolution * resolution) / independent);
  }
  const double usual_error = quantile_of(errors, 0.5);
  PeerSpread spread(values);
  const auto ranks = static_cast<double>(means.size());
  const double usual_variance = usual_spread * usual_spread;
  std::vector<Scatter> out;
  for (std::size_t r = 0; r < means.size(); ++r) {
    double between = 0;
    if (means.size() > kFewRanks ||
        (means.size() > 2 && (usual_spread > 0 || means[r].n < kEnoughSteps))) {
      const PeerSpread::Spread others = spread.without(values[r]);
      double deviation = means.size() > kFewRanks ? others.deviation : others.plain;
      if (usual_spread > 0) // the MAD of a few means is often small by chance
        deviation = std::max(deviation, others.lower);
      between =
          std::max(0.0, deviation * deviation - usual_error - usual_variance) * ranks / (ranks - 1);
    }
    double variance = errors[r] + between + usual_variance * ranks / (ranks - 1);
    double usual = 0;
    if (means.size() >= kManyRanks) {
      const PeerSpread::Spread others = spread.without(values[r]);
      variance = std::max(variance, others.deviation * others.deviation);
      usual = std::max(0.0, others.middle);
    }
    const double loose =
        errors[r] * errors[r] / degrees[r] + between * between / std::max(1.0, ranks - 2);
    out.push_back({std::sqrt(variance),
                   loose > 0 ? std::max(1.0, variance * variance / loose) : degrees[r], usual});
  }
  return out;
}

RankTest tested(const std::vector<StepSeries>& ranks, const PooledNoise& pooled, double resolution,
                double usual_spread, std::vector<Scatter>& scatter) {
  RankTest out;
  if (ranks.size() < 2)
    return out;
  std::vector<TrimmedMean> means;
  out.steps = ranks.front().size();
  for (const StepSeries& r : ranks) {
    out.steps = std::min(out.steps, r.size());
    means.push_back(trimmed_mean(r));
  }
  if (out.steps == 0)
    return out;
  std::vector<RankExcess> excess(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    excess[r].excess = means[r].mean;
    excess[r].mean = sample_stats(ranks[r]).mean;
    const auto [lowest, highest] = std::ranges::minmax(ranks[r]);
    excess[r].lowest = lowest;
    excess[r].highest = highest;
  }
  if (out.steps > 1) {
    out.dependence = out.steps < kFewestInSeries ? kAssumedDependence : pooled.dependence;
    scatter = scatter_of_steps(means, out.dependence, pooled, resolution, usual_spread);
  } else {
    scatter = scatter_of_one_step(means, excess, resolution);
  }
  if (scatter.empty())
    return out;
  for (std::size_t s = 0; s < out.steps; ++s) {
    std::size_t most = 0;
    for (std::size_t r = 1; r < ranks.size(); ++r)
      most = ranks[r][s] > ranks[most][s] ? r : most;
    ++excess[most].most;
  }
  out.ranks = std::move(excess);
  return out;
}

/// Returns the probability of `least` or more successes in `n` trials of probability `p`, with 0 <
/// p < 1. Example: 8 of 8 at 0.5 is 0.0039.
double binomial_tail(std::size_t n, std::size_t least, double p) {
  double out = 0;
  for (std::size_t k = least; k <= n; ++k) {
    const auto hits = static_cast<double>(k), misses = static_cast<double>(n - k);
    out += std::exp(std::lgamma(hits + misses + 1) - std::lgamma(hits + 1) -
                    std::lgamma(misses + 1) + hits * std::log(p) + misses * std::log1p(-p));
  }
  return std::min(out, 1.0);
}

/// The numbers of a rank's large differences, for find_changing().
struct LargeSteps {
  std::size_t above = 0, below = 0;
  std::size_t peers_above = 0, peers_steps = 0; ///< of all peers together
  [[nodiscard]] std::size_t all() const { return above + below; }
};

/// The differences of all ranks, sorted, so that the work for each rank is O(steps log n).
class SortedSteps {
public:
  explicit SortedSteps(const std::vector<StepSeries>& ranks) {
    for (const StepSeries& rank : ranks)
      values_.insert(values_.end(), rank.begin(), rank.end());
    sizes_ = sizes_of(values_);
    std::ranges::sort(values_);
  }

  [[nodiscard]] LargeSteps large_steps(const StepSeries& rank, double resolution) const {
    constexpr double kLarge = 4; // standard deviations
    const double limit =
        kLarge * std::max(resolution, kMadToDeviation * median_size_of_peers(rank));
    LargeSteps out;
    for (const double v : rank) {
      out.above += v > limit ? 1 : 0;
      out.below += v < -limit ? 1 : 0;
    }
    const auto first = std::ranges::upper_bound(values_, limit);
    out.peers_above = static_cast<std::size_t>(values_.end() - first) - out.above;
    out.peers_steps = values_.size() - rank.size();
    return out;
  }

private:
  static std::vector<double> sizes_of(std::vector<double> values) {
    for (double& v : values)
      v = std::fabs(v);
    std::ranges::sort(values);
    return values;
  }

  /// Returns the median of the absolute differences without those of `rank`; 0 without peers.
  [[nodiscard]] double median_size_of_peers(const StepSeries& rank) const {
    const std::size_t peers = sizes_.size() - rank.size();
    if (peers == 0)
      return 0;
    std::size_t low = (peers - 1) / 2, high = peers / 2; // in `sizes_` without those of the rank
    for (const double own : sizes_of(rank)) {
      low += sizes_[low] >= own ? 1 : 0;
      high += sizes_[high] >= own ? 1 : 0;
    }
    return (sizes_[low] + sizes_[high]) / 2;
  }

  std::vector<double> values_, sizes_; ///< ascending; `sizes_` without signs
};

} // namespace

double trimmed_mean_of(const StepSeries& values) {
  return trimmed_mean(values).mean;
}

std::optional<double> trend_of(const StepSeries& values) {
  constexpr std::size_t kFewest = 4;
  constexpr double kLikely = 1.3; // quantile of t for 80 %
  if (values.size() < kFewest)
    return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double mean = sample_stats(values).mean;
  double product = 0;
  double square = 0; // of the values
  for (std::size_t s = 0; s < values.size(); ++s) {
    product += (static_cast<double>(s) - (n - 1) / 2) * (values[s] - mean);
    square += (values[s] - mean) * (values[s] - mean);
  }
  const double steps_square = n * (n * n - 1) / 12;
  const double slope = product / steps_square;
  const double left = std::max(0.0, square - slope * product); // scatter around the line
  const double error = std::sqrt(left / (n - 2) / steps_square);
  const bool from_nothing = std::fabs(slope) * (n - 1) >= std::fabs(mean);
  if (!(std::fabs(slope) > error * (from_nothing ? kLikely : student_t95(n - 2))))
    return std::nullopt;
  return slope;
}

MedianOfOthers::MedianOfOthers(std::vector<double> values) : sorted_(std::move(values)) {
  RS_ASSERT(sorted_.size() >= 2);
  std::sort(sorted_.begin(), sorted_.end());
}

double MedianOfOthers::without(double value) const {
  const std::size_t n = sorted_.size();
  const std::size_t half = n / 2;
  if (n % 2 == 0) // n - 1 others: their median is one of them
    return value >= sorted_[half] ? sorted_[half - 1] : sorted_[half];
  if (value <= sorted_[half - 1])
    return (sorted_[half] + sorted_[half + 1]) / 2;
  if (value >= sorted_[half + 1])
    return (sorted_[half - 1] + sorted_[half]) / 2;
  return (sorted_[half - 1] + sorted_[half + 1]) / 2;
}

std::vector<StepSeries> against_peers(std::span<const std::vector<double>> steps) {
  if (steps.empty() || steps.front().size() < 2)
    return {};
  std::vector<StepSeries> out(steps.front().size());
  for (const std::vector<double>& step : steps) {
    const MedianOfOthers others(step);
    for (std::size_t r = 0; r < step.size(); ++r)
      out[r].push_back(step[r] - others.without(step[r]));
  }
  return out;
}

double lag1_correlation(std::span<const StepSeries> series) {
  double sum = 0;
  double weight = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const StepSeries& values : series) {
    least = std::min(least, values.size());
    const double mean = sample_stats(values).mean;
    double square = 0;
    double product = 0;
    for (std::size_t s = 0; s < values.size(); ++s) {
      square += (values[s] - mean) * (values[s] - mean);
      product += s > 0 ? (values[s] - mean) * (values[s - 1] - mean) : 0;
    }
    if (!(square > 0))
      continue;
    const auto n = static_cast<double>(values.size());
    sum += n * product / square;
    weight += n;
  }
  if (!(weight > 0))
    return 0;
  const double r = sum / weight;
  return r + (1 + 3 * r) / static_cast<double>(least);
}

double lag1_dependence(std::span<const StepSeries> series) {
  std::size_t samples = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const StepSeries& values : series) {
    samples += values.size();
    least = std::min(least, values.size());
  }
  if (samples < kFewestForDependence || least < kFewestInSeries)
    return kAssumedDependence;
  return std::clamp(lag1_correlation(series), 0.0, kMostDependence);
}

std::string dependence_note(double dependence) {
  if (dependence < kNotedDependence)
    return "";
  if (dependence == kAssumedDependence)
    return "; too few steps to test whether they depend on each other";
  return fmt::format("; successive steps depend on each other (correlation {:.1f})", dependence);
}

double independent_samples(double n, double rho) {
  return std::clamp(n * (1 - rho) / (1 + rho), std::min(n, 2.0), n);
}

std::vector<RankTest> test_ranks(std::span<const std::vector<StepSeries>> runs, double resolution,
                                 double level, double usual_spread) {
  std::vector<RankTest> out;
  std::vector<std::vector<Scatter>> scatter(runs.size());
  std::vector<RankExcess*> all;
  const PooledNoise pooled = pooled_noise(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    out.push_back(tested(runs[i], pooled, resolution, usual_spread, scatter[i]));
  std::size_t comparisons = 0;
  for (const RankTest& test : out)
    comparisons += test.ranks.size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<double> visible;
    for (std::size_t r = 0; r < out[i].ranks.size(); ++r) {
      RankExcess& rank = out[i].ranks[r];
      const Scatter& noise = scatter[i][r];
      rank.p = noise.error > 0
                   ? student_tail(noise.degrees, (rank.excess - noise.usual) / noise.error)
               : rank.excess > 0 ? 0
                                 : 1;
      rank.half_width = noise.error * student_t(noise.degrees, corrected_alpha(comparisons));
      // the test is one-sided, but the alpha of student_t() is two-sided
      visible.push_back(noise.error *
                        (student_t(noise.degrees, 2 * level / static_cast<double>(comparisons)) +
                         student_t(noise.degrees, 0.1)));
      all.push_back(&rank);
    }
    if (!visible.empty())
      out[i].least_visible = quantile_of(std::move(visible), 0.5);
  }
  std::ranges::sort(all, [](const RankExcess* a, const RankExcess* b) { return a->p < b->p; });
  for (std::size_t i = 0; i < all.size(); ++i) { // Holm's procedure (1979)
    if (!(all[i]->p <= level / static_cast<double>(all.size() - i)))
      break;
    all[i]->significant = true;
  }
  return out;
}

void find_changing(std::span<const std::vector<StepSeries>> runs, double resolution,
                   std::vector<RankTest>& tests) {
  constexpr double kSign = 0.5;
  struct Candidate {
    RankExcess* rank;
    LargeSteps large;
    std::size_t steps;
  };
  std::vector<Candidate> candidates;
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (tests[i].ranks.empty())
      continue;
    ranks += tests[i].ranks.size();
    const SortedSteps steps(runs[i]);
    for (std::size_t r = 0; r < tests[i].ranks.size(); ++r)
      if (const LargeSteps large = steps.large_steps(runs[i][r], resolution);
          binomial_tail(large.all(), large.all(), kSign) <= kChangingLevel)
        candidates.push_back({&tests[i].ranks[r], large, runs[i][r].size()});
  }
  for (const auto& [rank, large, steps] : candidates) {
    const double rate =
        static_cast<double>(large.peers_above + 1) / static_cast<double>(large.peers_steps + 2);
    if (rank->significant || 2 * large.above < steps ||
        binomial_tail(large.all(), large.above, kSign) >
            kChangingLevel / static_cast<double>(candidates.size()) ||
        binomial_tail(steps, large.above, rate) > kChangingLevel / static_cast<double>(ranks))
      continue;
    rank->significant = rank->changing = true;
    rank->excess = rank->mean;
  }
}

} // namespace rankscope
