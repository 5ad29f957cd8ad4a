#include "collect/samplers/sampler_summary.h"

#include "base/statistics.h"
#include "model/step_energy.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kGapPeriods = 2.5; ///< one late tick is not a gap
constexpr double kMaxDeciwatts = 1e6;
constexpr double kMostRelativeError = 0.01; ///< standard error of an energy that is reported

/// Returns the k-th smallest sample; samples are counted in steps of 0.1 W.
double ordered(const std::vector<std::uint32_t>& deciwatts, std::size_t k) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < deciwatts.size(); ++i) {
    before += deciwatts[i];
    if (before > k)
      return static_cast<double>(i) / 10;
  }
  return 0;
}

/// Returns a quantile by type 7 of Hyndman and Fan, like quantile() of base/statistics.h.
double quantile_of_counts(const std::vector<std::uint32_t>& deciwatts, std::size_t n, double q) {
  const double at = q * static_cast<double>(n - 1);
  const auto low = static_cast<std::size_t>(at);
  const double below = ordered(deciwatts, low);
  const double above = ordered(deciwatts, std::min(low + 1, n - 1));
  return below + (at - static_cast<double>(low)) * (above - below);
}

template <class Number>
void raise(std::optional<Number>& peak, const std::optional<Number>& value) {
  if (value && (!peak || *value > *peak))
    peak = value;
}

} // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
  case Phase::kPre:
    return "pre";
  case Phase::kRun:
    return "run";
  case Phase::kPost:
    return "post";
  }
  return "";
}

/// Returns the integral from the last sample to this one (trapezoid), and its variance.
///
/// Samples are taken at random times, one per period, so the power of a sample is the mean power of
/// its neighbourhood plus a random error with variance v. The integral sums s (a + b) / 2 over the
/// intervals, so its variance is at most the sum of s^2 v. v is estimated by the squared residual
/// of each sample from the line through its two neighbours, divided by the variance that
/// independent errors of variance 1 would have there, 1 + c^2 + d^2 for the weights c and d of the
/// neighbours (Gasser, Sroka, Jennen-Steinmetz: Residual variance and residual pattern in nonlinear
/// regression, Biometrika 73, 1986). Power that changes slowly gives small residuals. Example: 100,
/// 700, 100 W at 0, 1, 2 s: residual 600 W, c = d = 1/2, v = 360000 / 1.5 = 240000 W^2.
GpuAccumulator::Sampled GpuAccumulator::interval(std::int64_t t_ns, double w) const {
  const double seconds = static_cast<double>(t_ns - *last_t_ns_) / 1e9;
  Sampled out;
  out.joules = seconds * (w + last_w_) / 2;
  out.low = seconds * std::min(w, last_w_);
  out.high = seconds * std::max(w, last_w_);
  out.seconds = seconds;
  if (before_last_t_ns_ && t_ns > *before_last_t_ns_) {
    const double c = seconds * 1e9 / static_cast<double>(t_ns - *before_last_t_ns_);
    const double residual = last_w_ - c * before_last_w_ - (1 - c) * w;
    const double v = residual * residual / (1 + c * c + (1 - c) * (1 - c));
    out.variance = seconds * seconds * v;
    out.squares = out.variance * out.variance;
    out.known_s = seconds;
  }
  return out;
}

/// Returns the 95 % interval of an integral: Student's t with the degrees of freedom of
/// Satterthwaite, (sum of variances)^2 / (sum of squared variances), because a few samples may have
/// most of the variance. The variance of intervals that are not known is that of the others. From
/// two samples, no variance is known: the bounds are then the lower and the upper sum.
GpuAccumulator::Bounds GpuAccumulator::bounds_of(const Sampled& s) {
  if (s.known_s <= 0)
    return {s.low, s.high, std::nullopt};
  const double scale = s.seconds / s.known_s;
  const double error = std::sqrt(s.variance * scale);
  const double degrees = s.squares > 0 ? s.variance * s.variance * scale / s.squares : 1;
  const double half = error > 0 ? student_t95(std::max(degrees, 1.0)) * error : 0;
  return {std::max(0.0, s.joules - half), s.joules + half, error};
}

void GpuAccumulator::add_power(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading) {
  if (!reading.power_w) {
    ++out_.missing_power;
    return; // the interval ends at the next power value; the gap is integrated between its two ends
  }
  const double w = *reading.power_w;
  if (was == Phase::kRun && last_t_ns_) {
    const Sampled more = interval(t_ns, w);
    sampled_.add(more);
    pending_.add(more);
    if (static_cast<double>(t_ns - *last_t_ns_) > kGapPeriods * static_cast<double>(period_ns_))
      out_.gap_s += more.seconds;
  }
  const auto step = static_cast<std::size_t>(std::lround(std::clamp(w * 10, 0.0, kMaxDeciwatts)));
  if (deciwatts_.size() <= step)
    deciwatts_.resize(step + 1);
  ++deciwatts_[step];
  ++power_samples_;
  raise(out_.max_w, reading.power_w);
  min_w_ = std::min(min_w_, w);
  // an interval counts if both ends belong to the run
  before_last_t_ns_ = is == Phase::kRun ? last_t_ns_ : std::nullopt;
  before_last_w_ = last_w_;
  last_t_ns_ = is == Phase::kRun ? std::optional(t_ns) : std::nullopt;
  last_w_ = w;
}

void GpuAccumulator::Sampled::add(const Sampled& more) {
  joules += more.joules;
  low += more.low;
  high += more.high;
  seconds += more.seconds;
  variance += more.variance;
  squares += more.squares;
  known_s += more.known_s;
}

/// Replaces the integral of the samples since the last counter change by the counted energy. A
/// counter that is read more often than it changes does not cover the time before its first change
/// in the run and after its last one. An interval with a reset is not covered either.
void GpuAccumulator::add_counter(std::int64_t t_ns, Phase was, const GpuReading& reading) {
  if (!reading.energy_j)
    return;
  const double now = *reading.energy_j;
  const bool begins = was != Phase::kRun || !counter_;
  if (!begins && now == *counter_) {
    change_known_ = change_known_ && !counter_begins_;
    return;
  }
  if (!begins && now > *counter_ && change_known_) {
    counted_ += now - *counter_;
    counted_s_ += static_cast<double>(t_ns - counter_t_ns_) / 1e9;
    counted_sampled_ += pending_.joules;
  } else {
    out_.counter_resets += !begins && now < *counter_ ? 1 : 0;
    uncounted_.add(pending_);
  }
  pending_ = {};
  counter_begins_ = begins || now < *counter_;
  change_known_ = true; // for a first value too, until an equal value follows (see above)
  counter_ = now;
  counter_t_ns_ = t_ns;
}

void GpuAccumulator::add(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading) {
  if (reading.power_w || reading.vram_used_b || reading.gpu_busy_pct)
    reading_t_ns_ = t_ns;
  if (was != Phase::kRun && is != Phase::kRun)
    return;
  ++out_.samples;
  if (!begin_t_ns_)
    begin_t_ns_ = t_ns;
  end_t_ns_ = t_ns;
  add_power(t_ns, was, is, reading);
  add_counter(t_ns, was, reading);
  raise(out_.peak_vram_b, reading.vram_used_b);
  raise(out_.vram_total_b, reading.vram_total_b);
  raise(out_.peak_temp_c, reading.temp_c);
  raise(out_.max_busy_pct, reading.gpu_busy_pct);
  if (reading.gpu_busy_pct) {
    busy_sum_ += *reading.gpu_busy_pct;
    ++busy_samples_;
  }
}

GpuSummary GpuAccumulator::summary() const {
  GpuSummary out = out_;
  if (power_samples_ > 0) {
    const auto quantile = [&](double q) { // rounding may leave the range
      return std::clamp(quantile_of_counts(deciwatts_, power_samples_, q), min_w_, *out.max_w);
    };
    out.median_w = quantile(0.5);
    out.p95_w = quantile(0.95);
  }
  Sampled rest = uncounted_;
  rest.add(pending_);
  if (sampled_.seconds > 0)
    out.sampled_joules = sampled_.joules;
  if (counted_ > 0) {
    out.counter_joules = counted_;
    out.sampling_error = (counted_sampled_ - counted_) / counted_;
  }
  const double seconds = counted_s_ + rest.seconds;
  if (seconds > 0) {
    const double joules = counted_ + rest.joules;
    const Bounds bounds = bounds_of(rest);
    out.joules_low = counted_ + bounds.low;
    out.joules_high = counted_ + bounds.high;
    const bool aliased = bounds.error ? *bounds.error > kMostRelativeError * joules
                                      : is_aliased(joules, *out.joules_low, *out.joules_high);
    if (!aliased) {
      out.joules = joules;
      out.mean_w = joules / seconds;
      if (counted_ == 0)
        out.mean_w = std::clamp(*out.mean_w, min_w_, *out.max_w); // rounding may leave the range
    }
  }
  if (begin_t_ns_ && end_t_ns_ > begin_t_ns_) {
    const auto run = static_cast<double>(*end_t_ns_ - *begin_t_ns_) / 1e9;
    out.covered = std::min(1.0, seconds / run);
    const std::int64_t lost_ns =
        reading_t_ns_ ? *end_t_ns_ - std::max(*reading_t_ns_, *begin_t_ns_) : 0;
    if (static_cast<double>(lost_ns) > kGapPeriods * static_cast<double>(period_ns_))
      out.lost_s = static_cast<double>(lost_ns) / 1e9;
  }
  if (busy_samples_ > 0)
    out.mean_busy_pct = busy_sum_ / static_cast<double>(busy_samples_);
  return out;
}

std::vector<EnergyDoubt> energy_doubts(const SamplerSummary& summary) {
  constexpr double kMostError = 0.03;
  constexpr std::size_t kEnoughSamples = 10;
  using Kind = EnergyDoubt::Kind;
  std::vector<EnergyDoubt> out;
  for (const GpuSummary& g : summary.gpus) {
    const auto add = [&](Kind kind) -> EnergyDoubt& {
      out.push_back({kind, g.gpu.index});
      return out.back();
    };
    if (g.lost_s > 0) {
      EnergyDoubt& doubt = add(Kind::kLostGpu);
      doubt.lost_s = g.lost_s;
      doubt.covered = g.covered;
    }
    if (g.counter_resets > 0)
      add(Kind::kCounterReset).resets = g.counter_resets;
    if (g.sampling_error && std::abs(*g.sampling_error) > kMostError &&
        g.samples >= kEnoughSamples) {
      EnergyDoubt& doubt = add(Kind::kSamplesDiffer);
      doubt.counter_j = *g.counter_joules;
      doubt.sampled_j = *g.counter_joules * (1 + *g.sampling_error);
    }
    if (g.joules_low && !g.joules) {
      EnergyDoubt& doubt = add(Kind::kAliased);
      doubt.lowest_j = *g.joules_low;
      doubt.highest_j = *g.joules_high;
    }
  }
  return out;
}

} // namespace rankscope
