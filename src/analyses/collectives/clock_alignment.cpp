#include "analyses/collectives/clock_alignment.h"

#include "analyses/collectives/ends_source.h"
#include "base/lower_median.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <unordered_map>

namespace rankscope {
namespace {

/// The differences of one shared collective: times of rank a minus times of rank b.
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
  std::ranges::sort(out, {}, &Difference::at_ns);
  return out;
}

/// A line through the differences of ends as a function of time, and their median distance from it.
struct Fit {
  ClockLine line;
  std::int64_t residual_ns = 0;
};

template <class Get>
std::int64_t median_distance(const std::vector<Difference>& d, const ClockLine& line, Get get) {
  std::vector<std::int64_t> far;
  for (const Difference& x : d)
    far.push_back(std::abs(get(x) - line.at(x.at_ns)));
  return lower_median(far);
}

std::int64_t end_of(const Difference& d) {
  return d.end_ns;
}
std::int64_t start_of(const Difference& d) {
  return d.start_ns;
}

Fit constant(const std::vector<Difference>& d) {
  std::vector<std::int64_t> ends;
  for (const Difference& x : d)
    ends.push_back(x.end_ns);
  Fit out;
  out.line.offset_ns = lower_median(ends);
  out.line.from_ns = d[d.size() / 2].at_ns;
  out.residual_ns = median_distance(d, out.line, end_of);
  return out;
}

/// Returns the median time and the median end of the differences from `from` to before `to`.
Difference middle_of(const std::vector<Difference>& d, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> end;
  for (std::size_t i = from; i < to; ++i) {
    at.push_back(d[i].at_ns);
    end.push_back(d[i].end_ns);
  }
  return {lower_median(at), 0, lower_median(end)};
}

/// Returns a line with a drift if the data determine one, else a constant. A drift needs at least
/// 24 collectives, and the medians of the first and last third must differ by more than four
/// standard errors. It must also halve the residual. The standard error is 1.2533 * 1.4826 *
/// residual / sqrt(n).
Fit fitted(const std::vector<Difference>& d) {
  constexpr std::size_t kFewest = 24;
  const Fit flat = constant(d);
  if (d.size() < kFewest)
    return flat;
  const std::size_t third = d.size() / 3;
  const Difference first = middle_of(d, 0, third);
  const Difference last = middle_of(d, d.size() - third, d.size());
  if (last.at_ns <= first.at_ns)
    return flat;
  const double drift_ppt = static_cast<double>(last.end_ns - first.end_ns) * 1e12 /
                           static_cast<double>(last.at_ns - first.at_ns);
  if (std::abs(drift_ppt) > static_cast<double>(kMaxDriftPpt))
    return flat;
  Fit fit;
  fit.line.drift_ppt = std::llround(drift_ppt);
  fit.line.from_ns = flat.line.from_ns;
  std::vector<std::int64_t> rest;
  for (const Difference& x : d)
    rest.push_back(x.end_ns - fit.line.at(x.at_ns));
  fit.line.offset_ns = lower_median(rest);
  fit.residual_ns = median_distance(d, fit.line, end_of);
  const double error = 1.2533 * 1.4826 * static_cast<double>(fit.residual_ns) *
                       std::sqrt(2.0 / static_cast<double>(third));
  const bool shown = std::abs(static_cast<double>(last.end_ns - first.end_ns)) > 4 * error;
  return shown && 2 * fit.residual_ns < flat.residual_ns ? fit : flat;
}

bool poor(const ClockOffset& o, std::int64_t offset_ns) {
  return o.residual_ns > kLeaveTogetherNs && 2 * o.residual_ns > o.effect_ns &&
         3 * o.residual_ns > std::abs(offset_ns);
}

/// Measures the clock of `rank` against the clock of `base`, which `base_clock` aligns to the
/// reference.
ClockOffset measured(const CollectiveEnds& rank, const CollectiveEnds& base,
                     const ClockOffset& base_clock) {
  ClockOffset out;
  out.rank = out.via = rank.rank;
  const std::vector<Difference> d = differences(rank, base);
  if (d.empty())
    return out;
  const Fit fit = fitted(d);
  out.samples = d.size();
  out.via = base.rank;
  out.line = fit.line;
  out.line.offset_ns += base_clock.line.at(fit.line.from_ns);
  out.line.drift_ppt = std::clamp(fit.line.drift_ppt + base_clock.line.drift_ppt, -kMaxDriftPpt,
                                  kMaxDriftPpt); // the sum over several hops could exceed the limit
  out.residual_ns = fit.residual_ns;
  out.effect_ns = median_distance(d, fit.line, start_of);
  out.fit = poor(out, fit.line.offset_ns) ? ClockFit::kPoor : ClockFit::kAligned;
  return out;
}

/// Maps each collective to its ranks. Each collective is used once: the first call of take_with()
/// for one of its members returns all members. So all calls together read each list once.
class Members {
public:
  explicit Members(std::span<const CollectiveEnds> ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (const SharedEnd& end : ranks[r].ends)
        ranks_of_[end.id].push_back(r);
  }
  /// Returns the ranks, ascending, that share an unused collective with `rank`.
  std::vector<std::size_t> take_with(const CollectiveEnds& rank) {
    std::vector<std::size_t> out;
    for (const SharedEnd& end : rank.ends) {
      std::vector<std::size_t>& with = ranks_of_[end.id];
      out.insert(out.end(), with.begin(), with.end());
      with = {};
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

private:
  std::unordered_map<std::size_t, std::vector<std::size_t>> ranks_of_;
};

/// Collective ends that are in memory for all ranks.
class MemoryEnds final : public EndsSource {
public:
  explicit MemoryEnds(std::span<const CollectiveEnds> ranks) : ranks_(ranks), members_(ranks) {}
  std::vector<std::size_t> sharing(std::size_t rank,
                                   const std::vector<ClockOffset>& so_far) override {
    std::vector<std::size_t> out = members_.take_with(ranks_[rank]);
    std::erase_if(out, [&](std::size_t i) { return so_far[i].fit != ClockFit::kAlone; });
    return out;
  }
  const CollectiveEnds& ends(std::size_t rank, CollectiveEnds&) override { return ranks_[rank]; }

private:
  std::span<const CollectiveEnds> ranks_;
  Members members_;
};

/// If a rank is kPoor, changes aligned ranks with scattered ends to kPoor too, so that a report
/// does not mix aligned times and time bases. Ranks with an offset far above the scatter stay
/// aligned.
void keep_one_clock(std::vector<ClockOffset>& ranks) {
  constexpr std::int64_t kFarBeyond = 30;
  const auto is_poor = [](const ClockOffset& o) { return o.fit == ClockFit::kPoor; };
  if (std::none_of(ranks.begin(), ranks.end(), is_poor))
    return;
  for (ClockOffset& o : ranks)
    if (o.fit == ClockFit::kAligned && o.scattered() &&
        std::abs(o.line.offset_ns) / kFarBeyond < o.residual_ns)
      o.fit = ClockFit::kPoor;
}

} // namespace

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
  std::vector<std::int64_t> numbers;
  for (const CollectiveEnds& r : ranks)
    numbers.push_back(r.rank);
  MemoryEnds source(ranks);
  return align_clocks(numbers, source);
}

std::vector<ClockOffset> align_clocks(std::span<const std::int64_t> ranks, EndsSource& source) {
  std::vector<ClockOffset> out(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    out[i].rank = out[i].via = ranks[i];
  if (ranks.empty())
    return out;
  out[0].fit = ClockFit::kReference;
  std::vector<std::size_t> queue = {0};
  CollectiveEnds base_room;
  CollectiveEnds room;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::size_t base = queue[next];
    const std::vector<std::size_t> with = source.sharing(base, out);
    if (with.empty())
      continue;
    const CollectiveEnds& base_ends = source.ends(base, base_room);
    for (const std::size_t i : with) { // a poor fit is final: another base rank would not improve
                                       // it
      out[i] = measured(source.ends(i, room), base_ends, out[base]);
      if (out[i].aligned())
        queue.push_back(i);
    }
  }
  keep_one_clock(out);
  return out;
}

std::string clock_note(const ClockOffset& clock) {
  if (clock.fit == ClockFit::kAlone)
    return fmt::format(
        "rank {}: its clock is not aligned: it shares no collective with an aligned rank",
        clock.rank);
  if (clock.fit != ClockFit::kPoor && !clock.scattered())
    return "";
  return fmt::format(
      "rank {}: {}the ends of {} collectives scatter by {:.1f} \u00b5s around those of "
      "rank {}, the starts by {:.1f} \u00b5s",
      clock.rank, clock.fit == ClockFit::kPoor ? "its clock is not aligned: " : "", clock.samples,
      ns_to_us(clock.residual_ns), clock.via, ns_to_us(clock.effect_ns));
}

} // namespace rankscope
