#include "model/step_energy.h"

#include <algorithm>
#include <cstddef>

namespace rankscope {
namespace {

double watts_at(const PowerSample& a, const PowerSample& b, std::int64_t t) {
  if (b.unix_ns == a.unix_ns)
    return b.watts;
  const double part =
      static_cast<double>(t - a.unix_ns) / static_cast<double>(b.unix_ns - a.unix_ns);
  return a.watts + part * (b.watts - a.watts);
}

std::optional<double> energy_of(std::span<const PowerSample> samples, const TimeSpan& s,
                                std::int64_t longest_gap_ns) {
  if (samples.size() < 2 || s.end_ns < s.begin_ns || s.begin_ns < samples.front().unix_ns ||
      s.end_ns > samples.back().unix_ns)
    return std::nullopt;
  // the pair of samples around the begin
  const auto above = std::upper_bound(
      samples.begin() + 1, samples.end() - 1, s.begin_ns,
      [](std::int64_t t, const PowerSample& sample) { return t < sample.unix_ns; });
  double joules = 0;
  std::int64_t from = s.begin_ns;
  for (auto b = above; b != samples.end(); ++b) {
    const PowerSample& a = *(b - 1);
    const std::int64_t to = std::min(s.end_ns, b->unix_ns);
    if (b->unix_ns - a.unix_ns > longest_gap_ns && to > from)
      return std::nullopt;
    joules +=
        static_cast<double>(to - from) / 1e9 * (watts_at(a, *b, from) + watts_at(a, *b, to)) / 2;
    from = to;
    if (to == s.end_ns)
      break;
  }
  return joules;
}

} // namespace

std::vector<std::optional<double>> span_energy(std::span<const PowerSample> samples,
                                               std::span<const TimeSpan> spans,
                                               std::int64_t longest_gap_ns) {
  std::vector<std::optional<double>> out;
  out.reserve(spans.size());
  for (const TimeSpan& s : spans)
    out.push_back(energy_of(samples, s, longest_gap_ns));
  return out;
}

EnergyCurve::EnergyCurve(std::span<const PowerSample> samples, std::int64_t longest_gap_ns)
    : samples_(samples), longest_gap_ns_(longest_gap_ns) {
  Covered sum;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) {
      const std::int64_t apart = samples[i].unix_ns - samples[i - 1].unix_ns;
      if (apart <= longest_gap_ns) {
        sum.joules +=
            static_cast<double>(apart) / 1e9 * (samples[i - 1].watts + samples[i].watts) / 2;
        sum.ns += apart;
      }
    }
    sums_.push_back(sum);
  }
}

EnergyCurve::Covered EnergyCurve::until(std::int64_t t) const {
  const auto above = std::upper_bound(
      samples_.begin(), samples_.end(), t,
      [](std::int64_t at, const PowerSample& sample) { return at < sample.unix_ns; });
  if (above == samples_.begin())
    return {};
  const auto index = static_cast<std::size_t>(above - samples_.begin());
  Covered out = sums_[index - 1];
  if (above == samples_.end() || above->unix_ns - (above - 1)->unix_ns > longest_gap_ns_)
    return out;
  const PowerSample& a = *(above - 1);
  out.joules += static_cast<double>(t - a.unix_ns) / 1e9 * (a.watts + watts_at(a, *above, t)) / 2;
  out.ns += t - a.unix_ns;
  return out;
}

EnergyCurve::Covered EnergyCurve::of(const TimeSpan& span) const {
  const auto above = [this](std::int64_t t) {
    return std::upper_bound(
        samples_.begin(), samples_.end(), t,
        [](std::int64_t at, const PowerSample& sample) { return at < sample.unix_ns; });
  };
  // between two samples, as kernels are: not as the difference of two sums over the whole run
  if (const auto b = above(span.begin_ns);
      b != samples_.begin() && b != samples_.end() && above(span.end_ns) == b) {
    const PowerSample& a = *(b - 1);
    const std::int64_t ns = span.end_ns - span.begin_ns;
    if (b->unix_ns - a.unix_ns > longest_gap_ns_)
      return {};
    return {static_cast<double>(ns) / 1e9 *
                (watts_at(a, *b, span.begin_ns) + watts_at(a, *b, span.end_ns)) / 2,
            ns};
  }
  const Covered begin = until(span.begin_ns);
  const Covered end = until(span.end_ns);
  return {end.joules - begin.joules, end.ns - begin.ns};
}

} // namespace rankscope
