#include "analyses/collectives/collective_findings.h"

#include "analyses/collectives/collective_sums.h"
#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "base/number_text.h"
#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace rankscope {
namespace {

void most_exposed(const CollectiveFacts& facts, std::vector<CollectiveSentence>& out) {
  if (facts.exposed_types.empty())
    return;
  const ExposedType& x = facts.exposed_types.front();
  out.push_back(
      {fmt::format("most exposed: {} with {:.3f} ms of {:.3f} ms over all ranks "
                   "({:.1f} %)",
                   x.name, ns_to_ms(x.exposed_ns()), ns_to_ms(x.dur_ns), x.exposed_percent()),
       "exposed_by_type"});
}

/// What the figures leave out, and why.
void left_out(const CollectiveFacts& facts, const CollectiveTotals& totals,
              std::vector<CollectiveSentence>& out) {
  if (totals.incomplete > 0 && !facts.compat_tracelens)
    out.push_back({fmt::format("{} of {} collectives lack members of their group: their bandwidths "
                               "and waits are blank",
                               totals.incomplete, totals.matched),
                   "nccl_long"});
  constexpr std::size_t kTold = 8; // the sheet has them all
  std::vector<std::int64_t> more;
  std::size_t told = 0;
  for (const RankClock& clock : facts.clocks)
    if (std::string remark = clock_remark(clock.offset); remark.empty())
      continue;
    else if (told++ < kTold)
      out.push_back({std::move(remark), "clocks"});
    else
      more.push_back(clock.rank);
  if (!more.empty())
    out.push_back(
        {fmt::format("the like of {} more ranks: {}", more.size(), ranges_text(more)), "clocks"});
}

} // namespace

void SlowCollectives::Kind::settle() {
  std::vector<double> rest;
  for (std::size_t i = 0; i < bus_gbps.size(); ++i)
    if (i != least_at)
      rest.push_back(bus_gbps[i]);
  others = sample_stats(rest);
  bus_gbps = {};
}

void SlowCollectives::add(const TimedCollective& t) {
  ++added_;
  if (std::isnan(t.bus_gbps))
    return;
  const auto [at, fresh] =
      kinds_.try_emplace({t.match.pg, std::string(t.first_rank->text(t.first->name)),
                          std::string(t.first_rank->text(t.first->dtype)), t.first->in_nelems});
  Kind& kind = at->second;
  if (fresh)
    open_.push_back(&kind);
  if (fresh || t.bus_gbps < kind.least) {
    kind.least = t.bus_gbps;
    kind.least_at = kind.bus_gbps.size();
    kind.id = t.id;
  }
  kind.bus_gbps.push_back(t.bus_gbps);
}

void SlowCollectives::settle() {
  for (Kind* kind : open_)
    kind->settle();
  open_.clear();
}

std::optional<CollectiveSentence> SlowCollectives::take() {
  constexpr std::size_t kFewest = 5;
  constexpr double kFar = 0.8;
  settle();
  double worst = kFar;
  std::optional<CollectiveSentence> out;
  for (const auto& [key, kind] : kinds_) {
    const SampleStats& usual = kind.others;
    if (usual.n < kFewest)
      continue;
    const auto n = static_cast<double>(usual.n);
    const double expected = usual.mean - student_t(n - 1, corrected_alpha(added_)) *
                                             std::sqrt(usual.variance * (1 + 1 / n));
    const double share = kind.least / usual.mean;
    if (kind.least < expected && share < worst) {
      worst = share;
      out = {fmt::format("{} {} reached {:.1f} GB/s bus bandwidth, {:.0f} % of the others of its "
                         "kind and size and below all that their scatter explains",
                         std::get<1>(key), kind.id, kind.least, worst * 100),
             "nccl_implicit_sync"};
    }
  }
  return out;
}

std::vector<CollectiveSentence> collective_findings(const CollectiveFacts& facts) {
  CollectiveTotals totals;
  totals.matched = facts.collectives.size();
  for (const TimedCollective& t : facts.collectives)
    totals.incomplete += t.match.incomplete() ? 1 : 0;
  SlowCollectives slow;
  for (const SyncCollective& s : facts.synchronising)
    slow.add(*s.timed);
  totals.slow = slow.take();
  return collective_findings(facts, totals);
}

std::vector<CollectiveSentence> collective_findings(const CollectiveFacts& facts,
                                                    const CollectiveTotals& totals) {
  std::vector<CollectiveSentence> out = late_rank_findings(facts);
  for (CollectiveSentence& link : slow_link_findings(facts.summary))
    out.push_back(std::move(link));
  most_exposed(facts, out);
  if (totals.slow)
    out.push_back(*totals.slow);
  left_out(facts, totals, out);
  if (!facts.problems.empty())
    out.push_back(
        {fmt::format("{} collectives or windows disagree between ranks", facts.problems.size()),
         "problems"});
  return out;
}

std::vector<std::string> rank_spreads(const CollectiveFacts& facts) {
  std::vector<std::string> out;
  const auto add = [&out](const char* what, std::vector<std::pair<double, std::int64_t>> values) {
    if (values.size() < 2)
      return;
    const auto most = *std::max_element(values.begin(), values.end());
    std::vector<double> sorted;
    for (const auto& [value, rank] : values)
      sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    out.push_back(fmt::format("{} of {} ranks: {:.3f} to {:.3f}, quartiles {:.3f} {:.3f} {:.3f}; "
                              "most on rank {}",
                              what, sorted.size(), sorted.front(), sorted.back(),
                              quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75),
                              most.second));
  };
  std::vector<std::pair<double, std::int64_t>> comm;
  std::vector<std::pair<double, std::int64_t>> exposed;
  std::vector<std::pair<double, std::int64_t>> late;
  for (const ExposedRank& r : facts.exposed_ranks) {
    comm.emplace_back(ns_to_ms(r.comm_ns), r.rank);
    exposed.emplace_back(ns_to_ms(r.exposed_ns), r.rank);
  }
  for (const Straggler& s : facts.stragglers)
    if (!s.late_us.empty())
      late.emplace_back(sample_stats(s.late_us).mean, s.rank);
  add("communication (ms)", std::move(comm));
  add("exposed (ms)", std::move(exposed));
  add("later than the others (us)", std::move(late));
  return out;
}

std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows) {
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  struct Sum {
    SyncSummary row;
    std::size_t groups = 0;
  };
  std::map<Key, Sum> sums;
  const auto mean_into = [](Stats& to, const Stats& more) {
    if (more.count == 0 || std::isnan(more.mean))
      return;
    to.sum += more.mean * static_cast<double>(more.count);
    to.count += more.count;
    to.mean = to.sum / static_cast<double>(to.count);
  };
  for (const SyncSummary& row : rows) {
    Sum& sum = sums[{row.name, row.dtype, row.in_nelems, row.group_size}];
    if (sum.groups++ == 0) {
      sum.row.name = row.name;
      sum.row.dtype = row.dtype;
      sum.row.group = row.group;
      sum.row.in_nelems = row.in_nelems;
      sum.row.group_size = row.group_size;
      sum.row.full_mib = row.full_mib;
    }
    for (Stats SyncSummary::*stats :
         {&SyncSummary::latency_us, &SyncSummary::start_skew_us, &SyncSummary::end_skew_us,
          &SyncSummary::algo_gbps, &SyncSummary::bus_gbps})
      mean_into(sum.row.*stats, row.*stats);
    sum.row.count += row.count;
    sum.row.total_latency_ms += row.total_latency_ms;
  }
  std::vector<SyncSummary> out;
  for (auto& [key, sum] : sums) {
    if (sum.groups > 1)
      sum.row.group = fmt::format("{} groups", sum.groups);
    out.push_back(std::move(sum.row));
  }
  largest_first(out, [](const SyncSummary& s) { return s.total_latency_ms; });
  return out;
}

} // namespace rankscope
