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

} // namespace rankscope
