#include "analyses/top/top_facts.h"

#include "analyses/collectives/collective_sums.h"
#include "analyses/collectives/exposed_waits.h"
#include "analyses/collectives/late_ranks.h"
#include "analyses/sweep/sweep_compare.h"
#include "analyses/top/top_words.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

std::vector<TopTime> times_of(const ConfigurationRanks& run) {
  std::vector<TopTime> out;
  const double total = run.mean_ms(TimeKind::kTotal);
  for (const TimeKind kind : kSummaryKinds) {
    const double ms = run.mean_ms(kind);
    out.push_back({kind, ms, percent_of(ms, total)});
  }
  return out;
}

std::vector<TopIdle> idle_of(const TopParts& parts, double total_ms) {
  IdleTime sum;
  for (const TopRank& rank : parts.ranks)
    for (std::size_t c = 0; c < kIdleCauses; ++c) {
      sum.ns[c] += rank.idle.ns[c];
      sum.gaps[c] += rank.idle.gaps[c];
    }
  const auto ranks = static_cast<double>(parts.ranks.size());
  std::vector<TopIdle> out;
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (sum.ns[c] > 0) {
      const double ms = ns_to_ms(sum.ns[c]) / ranks;
      out.push_back(
          {static_cast<IdleCause>(c), ms,
           percent_of(static_cast<double>(sum.ns[c]), static_cast<double>(sum.total_ns())),
           percent_of(ms, total_ms), static_cast<double>(sum.gaps[c]) / ranks});
    }
  sort_stably(out, [](const TopIdle& a, const TopIdle& b) { return a.ms > b.ms; });
  return out;
}

/// Sorts stably by value, largest first, and cuts the rows to top_k (0: all).
template <class Row, class ValueOf>
void keep_largest(std::vector<Row>& rows, std::size_t top_k, ValueOf value) {
  sort_stably(rows, [&value](const Row& a, const Row& b) { return value(a) > value(b); });
  if (top_k > 0 && rows.size() > top_k)
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(top_k), rows.end());
}

void add_kernels(const TopParts& parts, std::size_t top_k, TopFacts& out) {
  std::vector<KernelTotal> sums;
  for (const TopRank& rank : parts.ranks)
    add_totals(sums, rank.kernels);
  std::int64_t all_ns = 0;
  for (const KernelTotal& k : sums) {
    all_ns += k.sum_ns;
    out.overview.kernel_launches += k.count;
  }
  out.overview.kernel_ms = ns_to_ms(all_ns);
  out.overview.kernels = static_cast<std::int64_t>(sums.size());
  keep_largest(sums, top_k, [](const KernelTotal& k) { return k.sum_ns; });
  for (KernelTotal& k : sums) {
    const double percent = percent_of(k.sum_ns, all_ns);
    out.kernels.push_back({std::move(k), percent, {}});
  }
  std::vector<std::string_view> full;
  full.reserve(out.kernels.size());
  for (const TopKernel& k : out.kernels)
    full.emplace_back(k.sum.name);
  std::vector<std::string> names = distinct_names(full);
  for (std::size_t i = 0; i < names.size(); ++i)
    out.kernels[i].short_name = std::move(names[i]);
}

/// Returns whether the row is a recorded operator. Without recorded operators, all rows would
/// repeat the kernels.
bool recorded(const OperatorTotal& row) {
  return !kernel_row_of(row.name);
}

double unlinked_ns(const TopParts& parts) {
  std::int64_t out = 0;
  for (const TopRank& rank : parts.ranks)
    out += rank.unlinked_ns;
  return static_cast<double>(out);
}

void add_operators(const TopParts& parts, std::size_t top_k, TopFacts& out) {
  std::vector<OperatorTotal> sums;
  for (const TopRank& rank : parts.ranks)
    add_totals(sums, rank.operators);
  double all_ns = 0;
  const double unlinked = unlinked_ns(parts);
  double no_operator_ns = unlinked;
  for (const OperatorTotal& o : sums) {
    all_ns += o.kernel_ns;
    no_operator_ns += recorded(o) ? 0 : o.kernel_ns;
  }
  out.overview.operator_ms = ns_to_ms(all_ns);
  out.overview.no_operator_ms = ns_to_ms(no_operator_ns);
  all_ns += unlinked;
  out.overview.work_ms = ns_to_ms(all_ns);
  if (std::none_of(sums.begin(), sums.end(), recorded))
    return;
  out.overview.operators = static_cast<std::int64_t>(sums.size());
  keep_largest(sums, top_k, [](const OperatorTotal& o) { return o.kernel_ns; });
  for (OperatorTotal& o : sums) {
    TopOperator row;
    row.percent = percent_of(o.kernel_ns, all_ns);
    row.tflops = o.flops.rate() / 1e3; // FLOP/ns = 10^9 FLOP/s
    row.tbps = o.bytes.rate() / 1e3;
    row.percent_of_roofline = percent_of(o.roofline_ns, o.rated_ns, kNaN);
    row.bound = o.rated_ns <= 0 ? "" : o.compute_bound ? "compute" : "memory";
    row.sum = std::move(o);
    out.operators.push_back(std::move(row));
  }
}

void add_categories(const TopParts& parts, TopFacts& out) {
  std::vector<CategoryTotal> sums;
  for (const TopRank& rank : parts.ranks)
    add_totals(sums, rank.categories);
  double all_ns = unlinked_ns(parts);
  for (const CategoryTotal& c : sums)
    all_ns += c.direct_ns;
  keep_largest(sums, 0, [](const CategoryTotal& c) { return c.direct_ns; });
  for (CategoryTotal& c : sums) {
    const double percent = percent_of(c.direct_ns, all_ns);
    out.categories.push_back({std::move(c), percent});
  }
}

std::vector<TopCollective> matched_collectives(const CollectiveFacts& facts) {
  std::vector<TopCollective> out;
  for (const SyncSummary& s : facts.summary)
    out.push_back({s.name, s.dtype, s.group, s.full_mib, s.group_size == kNoId ? 0 : s.group_size,
                   static_cast<std::int64_t>(s.count), s.latency_us.mean, s.total_latency_ms, 0,
                   s.start_skew_us.mean, s.bus_gbps.mean});
  return out;
}

/// Returns the collectives of a single rank. Their durations include the wait for other ranks, so
/// there is no bandwidth.
std::vector<TopCollective> collectives_of_one(const CollectiveFacts& facts) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t>;
  std::map<Key, std::size_t> places;
  std::vector<TopCollective> out;
  for (const RankSummary& s : facts.rank_summary) {
    const auto [at, fresh] =
        places.try_emplace({s.name, s.dtype, s.group, s.in_nelems}, out.size());
    if (fresh)
      out.push_back({s.name, s.dtype, s.group, std::fmax(s.in_mib, s.out_mib),
                     s.group_size == kNoId ? 0 : s.group_size, 0, 0, 0, 0, kNaN, kNaN});
    TopCollective& row = out[at->second];
    row.count += static_cast<std::int64_t>(s.count);
    row.total_ms += s.dur_us.sum / 1e3;
  }
  for (TopCollective& row : out)
    row.mean_us = row.total_ms * 1e3 / static_cast<double>(row.count);
  return out;
}

void add_collectives(const CollectiveFacts& facts, std::size_t top_k, TopFacts& out) {
  out.collectives = facts.ranks.size() > 1 ? matched_collectives(facts) : collectives_of_one(facts);
  double all_ms = 0;
  for (const TopCollective& c : out.collectives)
    all_ms += c.total_ms;
  for (TopCollective& c : out.collectives)
    c.percent = percent_of(c.total_ms, all_ms);
  out.overview.collectives = static_cast<std::int64_t>(out.collectives.size());
  keep_largest(out.collectives, top_k, [](const TopCollective& c) { return c.total_ms; });
  std::int64_t all_ns = 0;
  for (const ExposedType& t : facts.exposed_types)
    all_ns += t.dur_ns;
  const bool comparable = one_clock(facts);
  for (const ExposedType& t : facts.exposed_types)
    out.communication.push_back({t.name, t.kernels, ns_to_ms(t.dur_ns),
                                 percent_of(t.dur_ns, all_ns), ns_to_ms(t.exposed_ns()),
                                 percent_of(t.exposed_ns(), t.dur_ns),
                                 comparable && t.waits_known_ns > 0 ? ns_to_ms(t.wait_ns) : kNaN});
}

void add_ranks(const TopParts& parts, const SlowRanks& slow, const CollectiveFacts* collectives,
               TopFacts& out) {
  for (std::size_t i = 0; i < parts.ranks.size(); ++i) {
    const RankRecord& record = parts.records[i];
    TopRankRow row;
    row.rank = record.key.rank;
    row.path = parts.ranks[i].path;
    row.total_ms = record.ms(TimeKind::kTotal);
    const auto set = [&](TimeKind kind, double& ms, double& percent) {
      ms = record.ms(kind);
      percent = percent_of(ms, row.total_ms);
    };
    set(TimeKind::kComputation, row.compute_ms, row.compute_percent);
    set(TimeKind::kExposedComm, row.exposed_ms, row.exposed_percent);
    set(TimeKind::kExposedMemcpy, row.memcpy_ms, row.memcpy_percent);
    set(TimeKind::kIdle, row.idle_ms, row.idle_percent);
    row.slow = std::any_of(slow.ranks.begin(), slow.ranks.end(),
                           [&](const SlowRank& s) { return s.rank == row.rank; });
    out.ranks.push_back(std::move(row));
  }
  if (collectives == nullptr)
    return;
  std::map<std::int64_t, TopRankRow*> by_rank;
  for (TopRankRow& row : out.ranks)
    by_rank[row.rank] = &row;
  for (const Straggler& s : collectives->stragglers)
    if (const auto row = by_rank.find(s.rank); row != by_rank.end() && !s.late_us.empty())
      row->second->late_us = trimmed_mean_of(s.late_us);
  for (const LateRank& l : late_ranks(*collectives).ranks)
    if (const auto row = by_rank.find(l.rank->rank); row != by_rank.end())
      row->second->late = l.late.significant;
}

TopOverview overview_of(const TopParts& parts, const TopInput& input) {
  TopOverview out;
  out.title = input.title;
  out.ranks = static_cast<std::int64_t>(parts.ranks.size());
  for (std::size_t i = 0; i < parts.ranks.size(); ++i) {
    const auto steps = static_cast<std::int64_t>(parts.records[i].steps.size());
    out.steps = i == 0 ? steps : std::min(out.steps, steps);
    out.most_steps = std::max(out.most_steps, steps);
    const TopRank& rank = parts.ranks[i];
    if (i == 0) {
      out.device = rank.device;
      out.gpu = rank.gpu;
      continue;
    }
    if (out.device != rank.device)
      out.device = "different devices";
    if (out.gpu != rank.gpu)
      out.gpu.clear();
  }
  return out;
}

} // namespace

double TopFacts::ms(TimeKind kind) const {
  for (const TopTime& t : times)
    if (t.kind == kind)
      return t.ms;
  return 0;
}

double TopFacts::percent(TimeKind kind) const {
  for (const TopTime& t : times)
    if (t.kind == kind)
      return t.percent;
  return 0;
}

std::vector<ConfigurationRanks> one_run(const TopParts& parts) {
  std::vector<ConfigurationRanks> out(1);
  if (!parts.records.empty())
    out.front().configuration = parts.records.front().key.configuration;
  for (const RankRecord& record : parts.records)
    out.front().ranks.push_back(&record);
  return out;
}

TopFacts top_facts(const TopParts& parts, const CollectiveFacts* collectives,
                   const Diagnostics& diagnostics, const TopInput& input) {
  TopFacts out;
  out.problems = diagnostics.problems();
  if (parts.ranks.empty()) {
    out.overview.title = input.title;
    return out;
  }
  const std::vector<ConfigurationRanks> runs = one_run(parts);
  const ConfigurationRanks& run = runs.front();
  out.overview = overview_of(parts, input);
  out.times = times_of(run);
  out.overview.total_ms = out.ms(TimeKind::kTotal);
  out.idle = idle_of(parts, out.overview.total_ms);
  add_kernels(parts, input.top_k, out);
  add_operators(parts, input.top_k, out);
  add_categories(parts, out);
  if (collectives != nullptr)
    add_collectives(*collectives, input.top_k, out);
  const SlowRanks slow = slow_ranks(runs);
  add_ranks(parts, slow, collectives, out);
  out.next = top_next_steps(out, input);
  return out;
}

} // namespace rankscope
