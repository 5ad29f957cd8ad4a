#include "collect/samplers/sampler_summary.h"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

constexpr double kGapPeriods = 2.5; ///< one tick late is no gap
constexpr double kMaxDeciwatts = 1e6;

/// The k-th smallest of the samples counted in steps of 0.1 W.
double ordered(const std::vector<std::uint32_t>& deciwatts, std::size_t k) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < deciwatts.size(); ++i) {
    before += deciwatts[i];
    if (before > k)
      return static_cast<double>(i) / 10;
  }
  return 0;
}

/// Type 7 of Hyndman and Fan, as quantile() of base/statistics.h.
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

void GpuAccumulator::add_power(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading) {
  if (!reading.power_w) {
    ++out_.missing_power;
    return; // the next one closes the interval: a gap, integrated over its ends
  }
  const double w = *reading.power_w;
  if (was == Phase::kRun && last_t_ns_) {
    const double seconds = static_cast<double>(t_ns - *last_t_ns_) / 1e9;
    joules_ += seconds * (w + last_w_) / 2;
    seconds_ += seconds;
    if (static_cast<double>(t_ns - *last_t_ns_) > kGapPeriods * static_cast<double>(period_ns_))
      out_.gap_s += seconds;
  }
  const auto step = static_cast<std::size_t>(std::lround(std::clamp(w * 10, 0.0, kMaxDeciwatts)));
  if (deciwatts_.size() <= step)
    deciwatts_.resize(step + 1);
  ++deciwatts_[step];
  ++power_samples_;
  raise(out_.max_w, reading.power_w);
  min_w_ = std::min(min_w_, w);
  // an interval counts where both its ends belong to the run
  last_t_ns_ = is == Phase::kRun ? std::optional(t_ns) : std::nullopt;
  last_w_ = w;
}

void GpuAccumulator::add(std::int64_t t_ns, Phase was, Phase is, const GpuReading& reading) {
  if (was != Phase::kRun && is != Phase::kRun)
    return;
  ++out_.samples;
  add_power(t_ns, was, is, reading);
  if (reading.energy_j) {
    if (!counter_first_)
      counter_first_ = reading.energy_j;
    counter_last_ = reading.energy_j;
  }
  raise(out_.peak_vram_b, reading.vram_used_b);
  raise(out_.vram_total_b, reading.vram_total_b);
  raise(out_.peak_temp_c, reading.temp_c);
  if (reading.gpu_busy_pct) {
    busy_sum_ += *reading.gpu_busy_pct;
    ++busy_samples_;
  }
}

GpuSummary GpuAccumulator::summary() const {
  GpuSummary out = out_;
  if (power_samples_ > 0) {
    out.median_w = quantile_of_counts(deciwatts_, power_samples_, 0.5);
    out.p95_w = quantile_of_counts(deciwatts_, power_samples_, 0.95);
  }
  if (seconds_ > 0) {
    out.joules = joules_;
    out.mean_w = std::clamp(joules_ / seconds_, min_w_, *out.max_w); // rounding stays inside
  }
  // a counter that was reset tells nothing
  if (counter_first_ && *counter_last_ > *counter_first_)
    out.counter_joules = *counter_last_ - *counter_first_;
  if (busy_samples_ > 0)
    out.mean_busy_pct = busy_sum_ / static_cast<double>(busy_samples_);
  return out;
}

} // namespace rankscope
