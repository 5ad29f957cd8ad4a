// All-to-all-v: calls, their summary by group, and the amounts sent between ranks.
#include "analyses/collectives/collective_sums.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rankscope {

AllToAllV all_to_all_v_of(const std::vector<RankCollectives>& ranks, const TimedCollective& t,
                          bool compat_tracelens) {
  AllToAllV call;
  call.timed = &t;
  std::vector<double> sizes;
  std::vector<double> durations;
  for (const auto& [rank, row] : t.match.members) {
    const Collective& c = ranks[rank].rows[row];
    sizes.push_back(mib_of(ranks[rank], c, c.in_nelems));
    durations.push_back(ns_to_us(c.dur_ns));
    call.nelems += c.in_nelems == kNoId ? 0 : static_cast<double>(c.in_nelems);
  }
  const bool known = compat_tracelens || std::none_of(sizes.begin(), sizes.end(),
                                                      [](double mib) { return std::isnan(mib); });
  const Stats size = known ? stats_of(std::move(sizes)) : Stats{};
  const Stats duration = stats_of(std::move(durations));
  const std::int64_t first = *std::min_element(t.start_ns.begin(), t.start_ns.end());
  const std::int64_t last = *std::max_element(t.end_ns.begin(), t.end_ns.end());
  call.sent_mib = known ? size.sum : std::numeric_limits<double>::quiet_NaN();
  call.wall_us = ns_to_us(last - first);
  call.max_us = duration.max;
  call.min_us = duration.min;
  call.mean_us = duration.mean;
  call.throughput_gbps = call.wall_us > 0 ? call.sent_mib / 1024 / (call.wall_us / 1e6)
                                          : std::numeric_limits<double>::quiet_NaN();
  if (!compat_tracelens)
    call.throughput_gbps *= t.match.incomplete() ? std::numeric_limits<double>::quiet_NaN() : kGib;
  call.imbalance = size.max / size.mean;
  call.start_skew_us = ns_to_us(t.latest_start_ns - first);
  return call;
}

std::vector<AllToAllV> all_to_all_v(const std::vector<RankCollectives>& ranks,
                                    const std::vector<TimedCollective>& timed,
                                    bool compat_tracelens) {
  std::vector<AllToAllV> out;
  for (const TimedCollective& t : timed)
    if (t.match.kind == CollectiveKind::kAllToAllV)
      out.push_back(all_to_all_v_of(ranks, t, compat_tracelens));
  return out;
}

std::vector<AllToAllVSummary> all_to_all_v_summary(const std::vector<AllToAllV>& calls) {
  struct Sum {
    std::vector<double> wall, data, throughput, imbalance;
    const AllToAllV* last = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const AllToAllV& call : calls) {
    const TimedCollective& t = *call.timed;
    Sum& s = sums[{t.match.pg, std::string(t.first_rank->text(t.first->dtype))}];
    s.wall.push_back(call.wall_us);
    s.data.push_back(call.sent_mib);
    s.throughput.push_back(call.throughput_gbps);
    s.imbalance.push_back(call.imbalance);
    s.last = &call;
  }
  std::vector<AllToAllVSummary> out;
  for (auto& [key, s] : sums) {
    const TimedCollective& t = *s.last->timed;
    const Stats wall = stats_of(s.wall);
    out.push_back({key.first, key.second, std::string(t.first_rank->text(t.first->pg_ranks)),
                   t.first->group_size, stats_of(std::move(s.data)).mean, wall.mean,
                   stats_of(std::move(s.throughput)).mean, stats_of(std::move(s.imbalance)).mean,
                   s.wall.size(), wall.sum});
  }
  largest_first(out, [](const AllToAllVSummary& s) { return s.wall_us; });
  return out;
}

void SentSums::add(const std::vector<RankCollectives>& ranks, const TimedCollective& t) {
  if (t.match.kind != CollectiveKind::kAllToAllV)
    return;
  for (const auto& [rank, row] : t.match.members) {
    const RankCollectives& r = ranks[rank];
    const Collective& c = r.rows[row];
    const std::vector<std::int64_t> splits = numbers_in(r.text(c.in_split));
    const std::vector<std::int64_t> members = numbers_in(r.text(c.pg_ranks));
    std::int64_t elements = 0;
    for (const std::int64_t n : splits)
      elements += n;
    // splits count rows of the first dimension; in_nelems scales them to elements
    const double scale = elements > 0 && c.in_nelems != kNoId
                             ? static_cast<double>(c.in_nelems) / static_cast<double>(elements)
                             : 1;
    for (std::size_t k = 0; k < splits.size(); ++k) {
      const std::int64_t to =
          !compat_ && k < members.size() ? members[k] : static_cast<std::int64_t>(k);
      SentTo& s = sums_[{r.rank, to}];
      s.from = r.rank;
      s.to = to;
      const int bytes = r.element_bytes(c);
      s.mib += bytes > 0 || compat_ ? bytes_to_mib(static_cast<double>(splits[k]) * scale * bytes)
                                    : std::numeric_limits<double>::quiet_NaN();
      ++s.count;
    }
  }
}

std::vector<SentTo> SentSums::take() {
  std::vector<SentTo> out;
  for (const auto& [pair, sum] : sums_)
    out.push_back(sum);
  return out;
}

std::vector<SentTo> all_to_all_v_sent(const std::vector<RankCollectives>& ranks,
                                      const std::vector<TimedCollective>& timed,
                                      bool compat_tracelens) {
  SentSums sums(compat_tracelens);
  for (const TimedCollective& t : timed)
    sums.add(ranks, t);
  return sums.take();
}

} // namespace rankscope
