#include "synth/synth_noise.h"

#include "synth/synth_random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace rankscope::synth {
namespace {

constexpr std::array<std::pair<StepNoise, std::string_view>, 12> kStepNoiseNames = {{
    {StepNoise::kNone, "none"},
    {StepNoise::kIid, "iid"},
    {StepNoise::kCommon, "common"},
    {StepNoise::kAr1, "ar1"},
    {StepNoise::kAr1Common, "ar1c"},
    {StepNoise::kHeavy, "heavy"},
    {StepNoise::kHeavyCommon, "heavyc"},
    {StepNoise::kOutlier, "outlier"},
    {StepNoise::kBimodal, "bimodal"},
    {StepNoise::kHetero, "hetero"},
    {StepNoise::kThrottle, "throttle"},
    {StepNoise::kRuns, "runs"},
}};

constexpr double kCorrelation = 0.7;   ///< correlation of successive steps
constexpr double kOutlierSd = 10;      ///< excess of the single long step, in standard deviations
constexpr double kRunsSd = 0.5;        ///< standard deviation between runs
constexpr double kSlowModeShare = 0.3; ///< share of slow steps
constexpr double kLeastFactor = 0.2;   ///< minimum factor on the time of a step

/// Returns a normal random number. Unlike Random::normal() it is unbounded, because some kinds need
/// the tails of the distribution (Box and Muller 1958).
double gaussian(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * M_PI * random.uniform());
}

/// Returns a Student's t random number with 3 degrees of freedom, scaled to standard deviation 1.
double heavy_tailed(Random& random) {
  const double z = gaussian(random);
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double v = gaussian(random);
    squares += v * v;
  }
  return z / std::sqrt(squares);
}

/// Returns a random number with two modes, mean 0 and standard deviation 1.
double two_modes(Random& random) {
  const double low = std::sqrt(kSlowModeShare / (1 - kSlowModeShare));
  return random.uniform() < kSlowModeShare ? 1 / low : -low;
}

/// Returns the next value of an AR(1) series with standard deviation 1.
double successor(double last, Random& random) {
  return kCorrelation * last + std::sqrt(1 - kCorrelation * kCorrelation) * gaussian(random);
}

bool is_common(StepNoise kind) {
  return kind == StepNoise::kCommon || kind == StepNoise::kAr1Common ||
         kind == StepNoise::kHeavyCommon;
}

/// Returns a series for one rank or for all ranks, in standard deviations.
std::vector<double> series(StepNoise kind, std::size_t steps, Random& random) {
  std::vector<double> out;
  double last = gaussian(random);
  for (std::size_t s = 0; s < steps; ++s)
    switch (kind) {
    case StepNoise::kHeavy:
    case StepNoise::kHeavyCommon:
      out.push_back(heavy_tailed(random));
      break;
    case StepNoise::kBimodal:
      out.push_back(two_modes(random));
      break;
    case StepNoise::kAr1:
    case StepNoise::kAr1Common:
      out.push_back(last);
      last = successor(last, random);
      break;
    default:
      out.push_back(gaussian(random));
    }
  return out;
}

} // namespace

std::optional<StepNoise> step_noise_kind(std::string_view text) {
  for (const auto& [kind, name] : kStepNoiseNames)
    if (name == text)
      return kind;
  return std::nullopt;
}

std::string_view step_noise_name(StepNoise kind) {
  for (const auto& [known, name] : kStepNoiseNames)
    if (known == kind)
      return name;
  return "";
}

std::vector<std::vector<double>> step_factors(const Options& o, const Config& config) {
  const auto steps = static_cast<std::size_t>(o.steps);
  const auto ranks = static_cast<std::size_t>(o.ranks);
  std::vector<std::vector<double>> out(steps, std::vector<double>(ranks, 1.0));
  if (o.step_noise == StepNoise::kNone)
    return out;
  Random random(mix(o.seed) ^ mix(0x57e9u) ^
                mix(static_cast<std::uint64_t>(config.threads * 100003 + config.channels)));
  const std::vector<double> shared = series(o.step_noise, steps, random);
  const double run = kRunsSd * gaussian(random);
  const std::size_t long_step =
      static_cast<std::size_t>(random.uniform() * static_cast<double>(steps));
  const std::size_t long_rank =
      static_cast<std::size_t>(random.uniform() * static_cast<double>(ranks));
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<double> rank_series = series(o.step_noise, steps, random);
    // slowdown at the last step (kThrottle), in standard deviations
    const double end = 2 + 2 * random.uniform();
    const double rank_sd =
        o.step_noise == StepNoise::kHetero && ranks > 1
            ? std::pow(10.0, static_cast<double>(r) / static_cast<double>(ranks - 1) - 0.5)
            : 1.0;
    for (std::size_t s = 0; s < steps; ++s) {
      double sds = (is_common(o.step_noise) ? shared[s] : rank_series[s]) * rank_sd;
      if (o.step_noise == StepNoise::kRuns)
        sds += run;
      if (o.step_noise == StepNoise::kOutlier && s == long_step && r == long_rank)
        sds += kOutlierSd;
      if (o.step_noise == StepNoise::kThrottle && steps > 1)
        sds = 0.3 * sds + end * static_cast<double>(s) / static_cast<double>(steps - 1);
      out[s][r] = std::max(kLeastFactor, 1 + o.step_sd * sds);
    }
  }
  if (o.step_balanced)
    for (std::vector<double>& row : out) {
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      std::ranges::fill(row, sum / static_cast<double>(ranks));
    }
  return out;
}

} // namespace rankscope::synth
