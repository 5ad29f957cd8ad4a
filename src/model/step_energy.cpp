#include "model/step_energy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankscope {
namespace {

constexpr double kAliasedPart = 0.05;

void accumulate(SpanEnergy& sum, const SpanEnergy& more, int sign = 1) {
  sum.joules += sign * more.joules;
  sum.low += sign * more.low;
  sum.high += sign * more.high;
  sum.ns += sign * more.ns;
  sum.counted_ns += sign * more.counted_ns;
}

constexpr double kNoCounter = std::numeric_limits<double>::quiet_NaN();

double counter_at(std::span<const PowerSample> samples, std::size_t i) {
  return samples[i].energy_j.value_or(kNoCounter);
}

} // namespace

bool is_aliased(double joules, double low, double high) {
  return high - joules > kAliasedPart * joules || joules - low > kAliasedPart * joules;
}

SpanEnergy EnergyCurve::part_of(const Interval& i, std::int64_t from, std::int64_t to) {
  if (i.is_gap || to <= from)
    return {};
  const auto watts_at = [&](std::int64_t t) {
    return i.begin_w + static_cast<double>(t - i.begin_ns) /
                           static_cast<double>(i.end_ns - i.begin_ns) * (i.end_w - i.begin_w);
  };
  const double seconds = static_cast<double>(to - from) / 1e9;
  SpanEnergy out;
  out.joules = seconds * (watts_at(from) + watts_at(to)) / 2;
  out.ns = to - from;
  out.low = i.counted ? out.joules : seconds * std::min(i.begin_w, i.end_w);
  out.high = i.counted ? out.joules : seconds * std::max(i.begin_w, i.end_w);
  out.counted_ns = i.counted ? out.ns : 0;
  return out;
}

/// Scales the power of the intervals [first, last) such that their total energy is `joules`, the
/// difference of the counter.
void EnergyCurve::scale(std::size_t first, std::size_t last, double joules) {
  double sampled = 0;
  for (std::size_t i = first; i < last; ++i)
    sampled += part_of(intervals_[i], intervals_[i].begin_ns, intervals_[i].end_ns).joules;
  const auto ns = static_cast<double>(intervals_[last - 1].end_ns - intervals_[first].begin_ns);
  for (std::size_t i = first; i < last; ++i) {
    Interval& interval = intervals_[i];
    interval.counted = true;
    if (sampled > joules / 100) {
      interval.begin_w *= joules / sampled;
      interval.end_w *= joules / sampled;
    } else if (ns > 0) { // all samples are 0 W here, so the energy is distributed evenly
      interval.begin_w = interval.end_w = joules / (ns / 1e9);
    }
  }
}

EnergyCurve::EnergyCurve(std::span<const PowerSample> samples, std::int64_t longest_gap_ns) {
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const PowerSample& a = samples[i - 1];
    const PowerSample& b = samples[i];
    intervals_.push_back(
        {a.unix_ns, b.unix_ns, a.watts, b.watts, false, b.unix_ns - a.unix_ns > longest_gap_ns});
  }
  // find the segments from one change of the counter to the next, without gaps
  const std::size_t none = samples.size();
  std::size_t change = none; ///< sample in which the counter first had its current value
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0 && intervals_[i - 1].is_gap)
      change = none;
    const bool first = i == 0 || intervals_[i - 1].is_gap;
    const double now = counter_at(samples, i); // NaN compares as false
    const double before = first ? kNoCounter : counter_at(samples, i - 1);
    if (std::isnan(now) || now < before) {
      change = none;
    } else if (now > before) {
      if (change != none)
        scale(change, i, now - before);
      change = i;
    }
    // at the beginning, the time of the last change is known only if the first two values differ
    if (!std::isnan(now) && change == none && (std::isnan(before) || now < before) &&
        i + 1 < samples.size() && counter_at(samples, i + 1) > now)
      change = i;
  }
  SpanEnergy sum;
  for (const Interval& i : intervals_) {
    sums_.push_back(sum);
    accumulate(sum, part_of(i, i.begin_ns, i.end_ns));
  }
}

/// Returns the interval that contains t. If several begin at t, returns the last of them.
std::size_t EnergyCurve::interval_at(std::int64_t t) const {
  const auto above =
      std::upper_bound(intervals_.begin(), intervals_.end(), t,
                       [](std::int64_t at, const Interval& i) { return at < i.begin_ns; });
  return static_cast<std::size_t>(above - intervals_.begin()) - 1;
}

SpanEnergy EnergyCurve::until(std::int64_t t) const {
  if (intervals_.empty() || t < intervals_.front().begin_ns)
    return {};
  const std::size_t at = interval_at(t);
  const Interval& i = intervals_[at];
  SpanEnergy out = sums_[at];
  accumulate(out, part_of(i, i.begin_ns, std::min(t, i.end_ns)));
  return out;
}

SpanEnergy EnergyCurve::energy(const TimeSpan& span) const {
  // within one interval, compute the energy directly, not as the difference of two sums over the
  // run, which would lose digits
  if (!intervals_.empty() && span.begin_ns >= intervals_.front().begin_ns) {
    const Interval& i = intervals_[interval_at(span.begin_ns)];
    if (span.end_ns <= i.end_ns)
      return part_of(i, span.begin_ns, span.end_ns);
  }
  SpanEnergy out = until(span.end_ns);
  accumulate(out, until(span.begin_ns), -1);
  return out;
}

std::vector<std::optional<SpanEnergy>> span_energy(std::span<const PowerSample> samples,
                                                   std::span<const TimeSpan> spans,
                                                   std::int64_t longest_gap_ns) {
  const EnergyCurve curve(samples, longest_gap_ns);
  std::vector<std::optional<SpanEnergy>> out;
  out.reserve(spans.size());
  for (const TimeSpan& s : spans) {
    out.emplace_back();
    if (samples.size() < 2 || s.end_ns < s.begin_ns || s.begin_ns < samples.front().unix_ns ||
        s.end_ns > samples.back().unix_ns)
      continue;
    const SpanEnergy energy = curve.energy(s);
    if (energy.ns == s.end_ns - s.begin_ns)
      out.back() = energy;
  }
  return out;
}

} // namespace rankscope
