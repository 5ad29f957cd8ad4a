#include "analyses/collectives/collective_sums.h"

#include "base/rank_excess.h"
#include "base/sort.h"
#include "base/units.h"
#include "model/kernel_names.h"

#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace rankscope {

std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> out;
  std::int64_t n = -1;
  for (const char c : std::string(list) + ",") {
    if (c >= '0' && c <= '9') {
      n = std::min<std::int64_t>(std::max<std::int64_t>(n, 0), INT64_MAX / 10 - 10) * 10 +
          (c - '0');
    } else if (n >= 0) {
      out.push_back(n);
      n = -1;
    }
  }
  return out;
}

std::string_view node_span(std::string_view group_ranks, std::int64_t per_node) {
  if (per_node <= 0 || group_ranks.empty())
    return "unknown";
  std::set<std::int64_t> nodes;
  for (const std::int64_t rank : numbers_in(group_ranks))
    nodes.insert(rank / per_node);
  return nodes.empty() ? "unknown" : nodes.size() == 1 ? "intra_node" : "inter_node";
}

double mib_of(const RankCollectives& r, const Collective& c, std::int64_t nelems) {
  const int bytes = r.element_bytes(c);
  return bytes == 0 || nelems == kNoId ? std::numeric_limits<double>::quiet_NaN()
                                       : bytes_to_mib(static_cast<double>(nelems) * bytes);
}

void SyncSummarySums::Sum::settle() {
  row.latency_us = stats_of(std::exchange(samples[0], {}));
  row.start_skew_us = stats_of(std::exchange(samples[1], {}));
  row.end_skew_us = stats_of(std::exchange(samples[2], {}));
  row.algo_gbps = stats_of(std::exchange(samples[3], {}));
  row.bus_gbps = stats_of(std::exchange(samples[4], {}));
  row.total_latency_ms = row.latency_us.sum / 1e3;
  for (const auto& [step, sum] : std::exchange(step_bus_gbps, {}))
    row.step_bus_gbps.push_back({step, sum.first / static_cast<double>(sum.second)});
}

void SyncSummarySums::add(const TimedCollective& t) {
  if (!synchronises(t.match.kind))
    return;
  // the reference merges collectives of equal size across groups; our groups are separate
  const auto [at, fresh] =
      sums_.try_emplace(Key{std::string(t.first_rank->text(t.first->name)),
                            std::string(t.first_rank->text(t.first->dtype)), t.first->in_nelems,
                            compat_ ? std::string() : t.match.pg});
  Sum& sum = at->second;
  if (fresh) {
    sum.row.name = std::get<0>(at->first);
    sum.row.dtype = std::get<1>(at->first);
    sum.row.in_nelems = std::get<2>(at->first);
    sum.row.group = t.match.pg;
    sum.row.group_size = t.first->group_size;
    sum.row.group_ranks = t.first_rank->text(t.first->pg_ranks);
    sum.row.node_span = node_span(sum.row.group_ranks, per_node_);
    sum.row.full_mib = t.full_mib;
    open_.push_back(&sum);
  }
  sum.samples[0].push_back(ns_to_us(t.latency_ns));
  sum.samples[1].push_back(t.waits_known ? ns_to_us(*std::ranges::max_element(t.wait_ns))
                                         : std::numeric_limits<double>::quiet_NaN());
  sum.samples[2].push_back(ns_to_us(t.end_skew_ns));
  sum.samples[3].push_back(t.algo_gbps);
  sum.samples[4].push_back(t.bus_gbps);
  if (!compat_ && t.first->step >= 0 && !std::isnan(t.bus_gbps)) {
    auto& [bus_gbps, count] = sum.step_bus_gbps[t.first->step];
    bus_gbps += t.bus_gbps;
    ++count;
  }
  ++sum.row.count;
}

void SyncSummarySums::settle() {
  if (compat_) // in compat mode, a row may contain collectives of several groups
    return;
  for (Sum* sum : open_)
    sum->settle();
  open_.clear();
}

std::vector<SyncSummary> SyncSummarySums::take() {
  for (Sum* sum : open_)
    sum->settle();
  open_.clear();
  std::vector<SyncSummary> out;
  for (auto& [key, sum] : sums_)
    out.push_back(std::move(sum.row));
  sums_.clear();
  largest_first(out, [](const SyncSummary& s) { return s.total_latency_ms; });
  return out;
}

std::vector<SyncSummary> sync_summary(const std::vector<TimedCollective>& timed,
                                      std::int64_t per_node, bool compat_tracelens) {
  SyncSummarySums sums(per_node, compat_tracelens);
  for (const TimedCollective& t : timed)
    sums.add(t);
  return sums.take();
}

std::vector<RankSummary> rank_summary(const std::vector<const RankCollectives*>& ranks,
                                      std::int64_t per_node) {
  std::vector<RankSummary> out;
  for (const RankCollectives* r : ranks) {
    using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t,
                           std::string_view, std::int64_t, std::int64_t, std::string_view,
                           std::string_view, std::int32_t>;
    std::map<Key, std::vector<const Collective*>> groups;
    for (const Collective& c : r->rows) {
      // rows with a blank key are left out, as in the reference (2.2)
      if (!c.has_ids || c.pg_name == kEmptyStr || c.pg_ranks == kEmptyStr || c.name == kEmptyStr ||
          c.group_size == kNoId || c.dtype == kEmptyStr || c.in_nelems == kNoId ||
          c.out_nelems == kNoId || c.in_split == kEmptyStr || c.out_split == kEmptyStr)
        continue;
      groups[{r->text(c.pg_name), r->text(c.pg_ranks), r->text(c.name), c.group_size,
              r->text(c.dtype), c.in_nelems, c.out_nelems, r->text(c.in_split),
              r->text(c.out_split), c.stream}]
          .push_back(&c);
    }
    for (const auto& [key, list] : groups) {
      const Collective& c = *list.front();
      std::vector<std::int64_t> durations;
      for (const Collective* x : list)
        durations.push_back(x->dur_ns);
      RankSummary row;
      row.rank = r->rank;
      row.group = r->text(c.pg_name);
      row.group_ranks = r->text(c.pg_ranks);
      row.name = r->text(c.name);
      row.dtype = r->text(c.dtype);
      row.in_split = r->text(c.in_split);
      row.out_split = r->text(c.out_split);
      row.group_size = c.group_size;
      row.in_nelems = c.in_nelems;
      row.out_nelems = c.out_nelems;
      row.stream = c.stream;
      row.in_mib = mib_of(*r, c, c.in_nelems);
      row.out_mib = mib_of(*r, c, c.out_nelems);
      row.dur_us = stats_of_ns(std::move(durations));
      row.count = list.size();
      if (per_node > 0) {
        row.node = r->rank / per_node;
        row.node_span = node_span(row.group_ranks, per_node);
      }
      out.push_back(std::move(row));
    }
  }
  largest_first(out, [](const RankSummary& s) { return s.dur_us.sum; });
  return out;
}

std::vector<CollectiveKernel> collective_kernels(const std::vector<RankCollectives>& ranks,
                                                 const std::vector<TimedCollective>& timed) {
  std::vector<std::size_t> first_of;
  std::size_t n = 0;
  for (const RankCollectives& r : ranks) {
    first_of.push_back(n);
    n += r.rows.size();
  }
  std::vector<CollectiveKernel> out(n);
  for (const TimedCollective& t : timed)
    for (std::size_t k = 0; k < t.match.members.size(); ++k) {
      const auto& [rank, row] = t.match.members[k];
      const Collective& c = ranks[rank].rows[row];
      out[first_of[rank] + row] = {&ranks[rank], &c, &t, std::min(t.wait_ns[k], c.dur_ns)};
    }
  return out;
}

SyncCollective sync_collective_of(const std::vector<RankCollectives>& ranks,
                                  const TimedCollective& t) {
  std::int64_t wait_sum_ns = 0;
  std::size_t earliest = 0;
  for (std::size_t k = 0; k < t.wait_ns.size(); ++k) {
    wait_sum_ns += t.wait_ns[k];
    if (t.wait_ns[k] >= t.wait_ns[earliest]) // equal waits: the higher rank, as in the reference
      earliest = k;
  }
  return {&t, t.wait_ns[earliest], ranks[t.match.members[earliest].first].rank, wait_sum_ns};
}

std::vector<SyncCollective> synchronising(const std::vector<RankCollectives>& ranks,
                                          const std::vector<TimedCollective>& timed) {
  std::vector<SyncCollective> out;
  for (const TimedCollective& t : timed)
    if (synchronises(t.match.kind))
      out.push_back(sync_collective_of(ranks, t));
  return out;
}

bool compares_ranks(const TimedCollective& t) {
  return synchronises(t.match.kind) && t.match.members.size() > 1 && t.waits_known;
}

std::size_t StepNumbers::add(const TimedCollective& t) {
  return numbers_.emplace(t.first->step, numbers_.size()).first->second;
}

std::optional<std::size_t> StepNumbers::outside() const {
  const auto at = numbers_.find(kNoStep);
  return numbers_.size() > 1 && at != numbers_.end() ? std::optional(at->second) : std::nullopt;
}

void StragglerSums::add(const std::vector<RankCollectives>& ranks, const TimedCollective& t,
                        std::size_t step) {
  const std::size_t n = t.wait_ns.size();
  std::vector<std::int64_t> starts = t.start_ns;
  std::sort(starts.begin(), starts.end());
  const std::int64_t upper = starts[n / 2];
  const std::int64_t middle = n % 2 == 1 ? upper : upper - (upper - starts[n / 2 - 1]) / 2;
  std::vector<std::int64_t> dur;
  std::vector<double> dur_us;
  for (const auto& [rank, row] : t.match.members) {
    dur.push_back(ranks[rank].rows[row].dur_ns);
    dur_us.push_back(ns_to_us(dur.back()));
  }
  const MedianOfOthers others(dur_us);
  const std::size_t group = groups_.try_emplace(t.match.pg, groups_.size()).first->second;
  std::size_t last = 0;
  std::size_t first = 0;
  std::size_t shortest = 0;
  for (std::size_t k = 0; k < n; ++k) {
    Sum& sum = sums_[t.match.members[k].first];
    sum.rank.wait_ns += t.wait_ns[k];
    sum.rank.dur_ns += dur[k];
    sum.lateness_ns += t.start_ns[k] - middle;
    ++sum.rank.collectives;
    auto& [late_us, number] = sum.late_us[step];
    const double lateness_us = others.without(dur_us[k]) - dur_us[k];
    late_us += lateness_us;
    ++number;
    sum.by_group[group] += lateness_us;
    if (lateness_us > sum.latest_us) {
      const auto& [rank, row] = t.match.members[k];
      const Collective& c = ranks[rank].rows[row];
      sum.latest_us = lateness_us;
      sum.rank.latest = {ranks[rank].rank, c.ts_ns, c.end_ns()};
    }
    last = t.wait_ns[k] < t.wait_ns[last] ? k : last;
    first = t.wait_ns[k] >= t.wait_ns[first] ? k : first;
    shortest = dur[k] < dur[shortest] ? k : shortest;
  }
  ++sums_[t.match.members[last].first].rank.last;
  ++sums_[t.match.members[first].first].rank.first;
  ++sums_[t.match.members[shortest].first].rank.shortest;
}

std::vector<Straggler> StragglerSums::take(const std::vector<RankCollectives>& ranks,
                                           std::optional<std::size_t> outside) {
  std::vector<const std::string*> names(groups_.size());
  for (const auto& [name, number] : groups_)
    names[number] = &name;
  std::vector<Straggler> out;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Straggler& s = sums_[r].rank;
    if (s.collectives == 0)
      continue;
    s.rank = ranks[r].rank;
    s.mean_lateness_us = ns_to_us(sums_[r].lateness_ns) / static_cast<double>(s.collectives);
    for (const auto& [step, late] : sums_[r].late_us)
      if (step != outside)
        s.late_us.push_back(late.first / static_cast<double>(late.second));
    for (const auto& [number, late_us] : sums_[r].by_group)
      s.late_us_by_group[*names[number]] = late_us;
    out.push_back(std::move(s));
  }
  sort_stably(out, {}, &Straggler::wait_ns);
  return out;
}

std::vector<Straggler> stragglers(const std::vector<RankCollectives>& ranks,
                                  const std::vector<TimedCollective>& timed) {
  StepNumbers numbers;
  StragglerSums sums(ranks.size());
  for (const TimedCollective& t : timed)
    if (compares_ranks(t))
      sums.add(ranks, t, numbers.add(t));
  return sums.take(ranks, numbers.outside());
}

void ExposedTypeSums::add(const std::vector<RankCollectives>& ranks, const TimedCollective& t) {
  for (std::size_t k = 0; k < t.match.members.size(); ++k) {
    const RankCollectives& r = ranks[t.match.members[k].first];
    const Collective& c = r.rows[t.match.members[k].second];
    const std::string_view recorded = r.text(c.name);
    Sums& sums = recorded.empty() ? unnamed_ : named_;
    const std::string_view name = recorded.empty() ? r.text(c.kernel) : recorded;
    auto at = sums.find(name);
    if (at == sums.end()) {
      at = sums.emplace(std::string(name), ExposedType{}).first;
      at->second.name = name;
    }
    ExposedType& s = at->second;
    ++s.kernels;
    s.dur_ns += c.dur_ns;
    s.hidden_compute_ns += c.hidden_compute_ns;
    s.hidden_memcpy_ns += c.hidden_memcpy_ns;
    if (t.waits_known) {
      s.wait_ns += std::min(t.wait_ns[k], c.dur_ns);
      s.waits_known_ns += c.dur_ns;
    }
  }
}

std::vector<ExposedType> ExposedTypeSums::take() {
  std::vector<ExposedType> out;
  for (auto& [name, sum] : named_)
    out.push_back(std::move(sum));
  std::vector<std::string_view> kernels;
  for (const auto& [kernel, sum] : unnamed_)
    kernels.push_back(kernel);
  std::vector<std::string> names = distinct_names(kernels);
  std::size_t next = 0;
  for (auto& [kernel, sum] : unnamed_) {
    sum.name = "(unknown: " + names[next++] + ")";
    out.push_back(std::move(sum));
  }
  named_.clear();
  unnamed_.clear();
  largest_first(out, [](const ExposedType& s) { return static_cast<double>(s.exposed_ns()); });
  return out;
}

std::vector<ExposedType> exposed_types(const std::vector<RankCollectives>& ranks,
                                       const std::vector<TimedCollective>& timed) {
  ExposedTypeSums sums;
  for (const TimedCollective& t : timed)
    sums.add(ranks, t);
  return sums.take();
}

void GroupSums::Sum::settle() {
  group.median_bus_gbps = stats_of(std::exchange(bus, {})).median;
}

void GroupSums::add(const std::vector<RankCollectives>& ranks, const TimedCollective& t) {
  const std::string members(t.first_rank->text(t.first->pg_ranks));
  const auto [at, fresh] = sums_.try_emplace(std::pair(t.match.pg, members));
  auto& [group, bus] = at->second;
  if (fresh)
    open_.push_back(&at->second);
  group.name = t.match.pg;
  group.ranks = members;
  group.description = t.first_rank->text(t.first->pg_description);
  group.size = t.first->group_size;
  ++group.collectives;
  group.kernels += static_cast<std::int64_t>(t.match.members.size());
  for (const auto& [rank, row] : t.match.members)
    group.dur_ns += ranks[rank].rows[row].dur_ns;
  group.mib += std::isnan(t.full_mib) ? 0 : t.full_mib;
  bus.push_back(compat_ ? t.bus_gbps * kGib : t.bus_gbps);
}

void GroupSums::settle() {
  for (Sum* sum : open_)
    sum->settle();
  open_.clear();
}

std::vector<GroupSummary> GroupSums::take() {
  settle();
  std::vector<GroupSummary> out;
  for (auto& [key, sum] : sums_) {
    sum.group.node_span = node_span(sum.group.ranks, per_node_);
    out.push_back(std::move(sum.group));
  }
  sums_.clear();
  largest_first(out, [](const GroupSummary& g) { return static_cast<double>(g.dur_ns); });
  return out;
}

std::vector<GroupSummary> process_groups(const std::vector<RankCollectives>& ranks,
                                         const std::vector<TimedCollective>& timed,
                                         std::int64_t per_node, bool compat_tracelens) {
  GroupSums sums(per_node, compat_tracelens);
  for (const TimedCollective& t : timed)
    sums.add(ranks, t);
  return sums.take();
}

} // namespace rankscope
