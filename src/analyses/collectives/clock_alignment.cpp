#include "analyses/collectives/clock_alignment.h"

#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Ranks leave a collective within some microseconds; above this a residual needs a reason.
constexpr std::int64_t kLeaveTogetherNs = 20'000;

/// Lower median; v is reordered and must not be empty.
std::int64_t median(std::vector<std::int64_t>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// A collective that both ranks have: how much later a's times are than b's.
struct Difference {
  std::int64_t at_ns = 0; ///< a's end
  std::int64_t start_ns = 0, end_ns = 0;
};

std::vector<Difference> differences(const CollectiveEnds& a, const CollectiveEnds& b) {
  std::vector<Difference> out;
  auto i = a.ends.begin();
  auto j = b.ends.begin();
  while (i != a.ends.end() && j != b.ends.end()) {
    if (i->id == j->id)
      out.push_back({i->end_ns, i->start_ns - j->start_ns, i->end_ns - j->end_ns});
    const bool first = i->id <= j->id;
    const bool second = j->id <= i->id;
    i += first ? 1 : 0;
    j += second ? 1 : 0;
  }
  std::sort(out.begin(), out.end(),
            [](const Difference& x, const Difference& y) { return x.at_ns < y.at_ns; });
  return out;
}

/// offset + drift * (t - from), for differences of ends by time.
struct Line {
  std::int64_t offset_ns = 0;
  double drift_ppb = 0;
  std::int64_t from_ns = 0;
  std::int64_t residual_ns = 0;

  [[nodiscard]] std::int64_t at(std::int64_t t) const {
    return offset_ns + static_cast<std::int64_t>(
                           std::llround(static_cast<double>(t - from_ns) / 1e9 * drift_ppb));
  }
};

template <class Get>
std::int64_t median_distance(const std::vector<Difference>& d, const Line& line, Get get) {
  std::vector<std::int64_t> far;
  for (const Difference& x : d)
    far.push_back(std::abs(get(x) - line.at(x.at_ns)));
  return median(far);
}

std::int64_t end_of(const Difference& d) {
  return d.end_ns;
}
std::int64_t start_of(const Difference& d) {
  return d.start_ns;
}

Line constant(const std::vector<Difference>& d) {
  std::vector<std::int64_t> ends;
  for (const Difference& x : d)
    ends.push_back(x.end_ns);
  Line out;
  out.offset_ns = median(ends);
  out.from_ns = d[d.size() / 2].at_ns;
  out.residual_ns = median_distance(d, out, end_of);
  return out;
}

/// The medians of a third of the differences: when and how much.
Difference middle_of(const std::vector<Difference>& d, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> end;
  for (std::size_t i = from; i < to; ++i) {
    at.push_back(d[i].at_ns);
    end.push_back(d[i].end_ns);
  }
  return {median(at), 0, median(end)};
}

/// A line where the data determine one: 24 collectives, and the outer thirds differ by more than
/// four standard errors of their medians (1.2533 * 1.4826 * residual / sqrt(n)).
Line fitted(const std::vector<Difference>& d) {
  constexpr std::size_t kFewest = 24;
  const Line flat = constant(d);
  if (d.size() < kFewest)
    return flat;
  const std::size_t third = d.size() / 3;
  const Difference first = middle_of(d, 0, third);
  const Difference last = middle_of(d, d.size() - third, d.size());
  if (last.at_ns <= first.at_ns)
    return flat;
  Line line;
  line.drift_ppb = static_cast<double>(last.end_ns - first.end_ns) * 1e9 /
                   static_cast<double>(last.at_ns - first.at_ns);
  line.from_ns = flat.from_ns;
  std::vector<std::int64_t> rest;
  for (const Difference& x : d)
    rest.push_back(x.end_ns - line.at(x.at_ns));
  line.offset_ns = median(rest);
  line.residual_ns = median_distance(d, line, end_of);
  const double error = 1.2533 * 1.4826 * static_cast<double>(line.residual_ns) *
                       std::sqrt(2.0 / static_cast<double>(third));
  const bool shown = std::abs(static_cast<double>(last.end_ns - first.end_ns)) > 4 * error;
  return shown && 2 * line.residual_ns < flat.residual_ns ? line : flat;
}

bool poor(const ClockOffset& o, std::int64_t offset_ns) {
  return o.residual_ns > kLeaveTogetherNs && 2 * o.residual_ns > o.effect_ns &&
         3 * o.residual_ns > std::abs(offset_ns);
}

/// `rank` against `base`, which is aligned by `by`.
ClockOffset measured(const CollectiveEnds& rank, const CollectiveEnds& base,
                     const ClockOffset& by) {
  ClockOffset out;
  out.rank = out.via = rank.rank;
  const std::vector<Difference> d = differences(rank, base);
  if (d.empty())
    return out;
  const Line line = fitted(d);
  out.samples = d.size();
  out.via = base.rank;
  out.from_ns = line.from_ns;
  out.offset_ns = line.offset_ns + by.at(line.from_ns);
  out.drift_ppb = line.drift_ppb + by.drift_ppb;
  out.residual_ns = line.residual_ns;
  out.effect_ns = median_distance(d, line, start_of);
  out.fit = poor(out, line.offset_ns) ? ClockFit::kPoor : ClockFit::kAligned;
  return out;
}

} // namespace

std::int64_t ClockOffset::at(std::int64_t unix_ns) const {
  if (!aligned())
    return 0;
  return Line{offset_ns, drift_ppb, from_ns, 0}.at(unix_ns);
}

bool ClockOffset::scattered() const {
  return samples > 3 && 2 * residual_ns > 5 * kLeaveTogetherNs && 2 * residual_ns > effect_ns;
}

std::vector<CollectiveEnds> collective_ends(std::span<const RankCollectives> ranks,
                                            std::span<const MatchedCollective> matched) {
  std::vector<CollectiveEnds> out(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    out[r].rank = ranks[r].rank;
  for (std::size_t m = 0; m < matched.size(); ++m) {
    if (!synchronises(matched[m].kind) || matched[m].members.size() < 2)
      continue;
    for (const auto& [r, row] : matched[m].members) {
      const Collective& c = ranks[r].rows[row];
      const std::int64_t base = ranks[r].base_time_ns;
      out[r].ends.push_back({m, base + c.ts_ns, base + c.end_ns()});
    }
  }
  return out;
}

std::vector<ClockOffset> align_clocks(std::span<const CollectiveEnds> ranks) {
  std::vector<ClockOffset> out(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    out[i].rank = out[i].via = ranks[i].rank;
  if (ranks.empty())
    return out;
  out[0].fit = ClockFit::kReference;
  std::vector<std::size_t> queue = {0};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (out[i].fit != ClockFit::kAlone) // a poor fit is no better through another rank
        continue;
      out[i] = measured(ranks[i], ranks[queue[next]], out[queue[next]]);
      if (out[i].aligned())
        queue.push_back(i);
    }
  return out;
}

std::string clock_remark(const ClockOffset& clock) {
  if (clock.fit == ClockFit::kAlone)
    return fmt::format("rank {}: its clock stays on the time base: it shares no collective with "
                       "the others",
                       clock.rank);
  if (clock.fit != ClockFit::kPoor && !clock.scattered())
    return "";
  return fmt::format(
      "rank {}: {}ends of {} collectives scatter by {:.1f} us around those of rank "
      "{}, starts by {:.1f} us",
      clock.rank, clock.fit == ClockFit::kPoor ? "its clock stays on the time base: " : "",
      clock.samples, ns_to_us(clock.residual_ns), clock.via, ns_to_us(clock.effect_ns));
}

} // namespace rankscope
