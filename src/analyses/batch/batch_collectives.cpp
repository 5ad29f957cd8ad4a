// Collectives of the batch report. By default, collective_match.h matches them, and their times are
// on a common clock. In compat mode, they are matched by their order among the groups with the same
// name, and their times are as in the files (docs/reference/batch-rules.md 7).
#include "analyses/batch/batch_facts.h"
#include "analyses/collectives/collective_facts.h"
#include "analyses/collectives/collective_sums.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/reference_time.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_map>

namespace rankscope {
namespace {

/// Returns the kind of a collective by the names that the reference knows; kOther = not analyzed.
CollectiveKind old_kind(std::string_view name) {
  static const std::unordered_map<std::string_view, CollectiveKind> kKinds = {
      {"allreduce", CollectiveKind::kAllReduce},
      {"allreduce_coalesced", CollectiveKind::kAllReduce},
      {"reducescatter", CollectiveKind::kReduceScatter},
      {"_reduce_scatter_base", CollectiveKind::kReduceScatter},
      {"reduce_scatter_tensor_coalesced", CollectiveKind::kReduceScatter},
      {"allgather", CollectiveKind::kAllGather},
      {"all_gather", CollectiveKind::kAllGather},
      {"_allgather_base", CollectiveKind::kAllGather},
      {"all_gather_into_tensor_coalesced", CollectiveKind::kAllGather},
      {"allgather_into_tensor_coalesced", CollectiveKind::kAllGather},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"all_to_allv", CollectiveKind::kAllToAllV}};
  const auto it = kKinds.find(name);
  return it == kKinds.end() ? CollectiveKind::kOther : it->second;
}

/// Returns the size in MiB by the reference's list of types, which has no 8-bit floats.
double old_mib(const RankCollectives& r, const Collective& c, std::int64_t nelems) {
  for (const char* type :
       {"Float", "Int", "Long", "BFloat16", "Bool", "Byte", "Double", "Half", "Short"})
    if (r.text(c.dtype) == type)
      return mib_of(r, c, nelems);
  return kNaN;
}

/// Returns the kernels of all ranks. The index of a kernel is its position by start time among the
/// kernels of the same rank and group.
std::vector<BatchLongRow> old_kernels(const std::vector<RankCollectives>& ranks) {
  std::vector<BatchLongRow> out;
  for (std::size_t position = 0; position < ranks.size(); ++position) {
    const RankCollectives& rank = ranks[position];
    std::map<std::string_view, std::vector<std::size_t>> groups;
    for (const Collective& c : rank.rows) {
      groups[rank.text(c.pg_name)].push_back(out.size());
      BatchLongRow row;
      row.rank = static_cast<std::int64_t>(position); // the position, not the number of the rank
      row.rank_data = &rank;
      row.collective = &c;
      row.ts_us = reference_us(c.ts_ns);
      row.dur_us = reference_us(c.dur_ns);
      row.in_mib = old_mib(rank, c, c.in_nelems);
      row.out_mib = old_mib(rank, c, c.out_nelems);
      out.push_back(std::move(row));
    }
    for (auto& [name, rows] : groups) {
      sort_stably(rows,
                  [&out](std::size_t a, std::size_t b) { return out[a].ts_us < out[b].ts_us; });
      for (std::size_t i = 0; i < rows.size(); ++i) {
        BatchLongRow& row = out[rows[i]];
        row.index = static_cast<std::int64_t>(i);
        row.id = fmt::format("{}_{}", name.empty() ? "Unknown_Group" : name, i);
      }
    }
  }
  return out;
}

/// Sets the times and rates of a collective by the reference's formulas, in microseconds as
/// doubles.
void old_times(const std::vector<const BatchLongRow*>& rows, CollectiveKind kind,
               BatchCollective& out) {
  double latest = -std::numeric_limits<double>::infinity();
  double first_end = std::numeric_limits<double>::infinity();
  double last_end = -first_end;
  out.latency_us = first_end;
  for (const BatchLongRow* row : rows) {
    latest = std::max(latest, row->ts_us);
    first_end = std::min(first_end, row->ts_us + row->dur_us);
    last_end = std::max(last_end, row->ts_us + row->dur_us);
    out.latency_us = std::min(out.latency_us, row->dur_us);
  }
  double sum = 0;
  out.start_skew_us = 0;
  for (const BatchLongRow* row : rows) {
    const double wait = latest - row->ts_us;
    out.members.push_back({row->rank, row->ts_us, row->dur_us, wait});
    sum += wait;
    if (wait >= out.start_skew_us) { // equal waits: the higher rank
      out.start_skew_us = wait;
      out.earliest_rank = row->rank;
    }
  }
  out.mean_wait_us = sum / static_cast<double>(rows.size());
  out.end_skew_us = last_end - first_end;
  out.full_mib = kind == CollectiveKind::kAllGather ? out.out_mib : out.in_mib;
  out.algo_gbps =
      out.latency_us > 0 ? (out.full_mib / 1024) / (out.latency_us / 1e6) : kNaN; // GiB/s
  out.bus_gbps = out.first->group_size == kNoId
                     ? kNaN
                     : out.algo_gbps * bus_bandwidth_factor(kind, out.first->group_size);
}

/// Returns a description of the first difference between the data that ranks recorded for a
/// collective; "" if the data are equal.
std::string disagreement(const std::vector<const BatchLongRow*>& rows, bool sizes) {
  const auto said = [sizes](const BatchLongRow& row) {
    const Collective& c = *row.collective;
    return std::tuple(row.rank_data->text(c.name), row.rank_data->text(c.dtype),
                      row.rank_data->text(c.pg_ranks), c.group_size, sizes ? c.in_nelems : 0,
                      sizes ? c.out_nelems : 0);
  };
  for (const BatchLongRow* row : rows)
    if (said(*row) != said(*rows.front()))
      return fmt::format("collective {}: rank {} has {} {} {}, but rank {} has {} {} {}; the first "
                         "values are used",
                         row->id, rows.front()->rank, std::get<0>(said(*rows.front())),
                         std::get<1>(said(*rows.front())), rows.front()->collective->in_nelems,
                         row->rank, std::get<0>(said(*row)), std::get<1>(said(*row)),
                         row->collective->in_nelems);
  return "";
}

void add_sent(const BatchLongRow& row, BatchCollective& to) {
  if (!std::isnan(row.in_mib))
    to.sent_mib += row.in_mib;
  if (row.collective->in_nelems != kNoId)
    to.sent_nelems += static_cast<double>(row.collective->in_nelems);
}

BatchCollectives old_collectives(const std::vector<RankCollectives>& ranks) {
  BatchCollectives out;
  out.kernels = old_kernels(ranks);
  std::vector<std::vector<const BatchLongRow*>> groups; // groups in order of first appearance
  std::unordered_map<std::string_view, std::size_t> at;
  for (const BatchLongRow& row : out.kernels) {
    const auto [known, fresh] = at.try_emplace(row.id, groups.size());
    if (fresh)
      groups.emplace_back();
    groups[known->second].push_back(&row);
  }
  for (const std::vector<const BatchLongRow*>& rows : groups) {
    const BatchLongRow& first = *rows.front();
    const CollectiveKind kind = old_kind(first.rank_data->text(first.collective->name));
    const bool varied = kind == CollectiveKind::kAllToAllV;
    if (!synchronises(kind) && !varied)
      continue;
    BatchCollective c;
    c.id = first.id;
    c.first_rank = first.rank_data;
    c.first = first.collective;
    c.in_mib = first.in_mib;
    c.out_mib = first.out_mib;
    old_times(rows, kind, c);
    for (const BatchLongRow* row : rows)
      add_sent(*row, c);
    if (std::string problem = disagreement(rows, !varied); !problem.empty())
      out.problems.push_back(std::move(problem));
    (varied ? out.all_to_all_v : out.synchronous).push_back(std::move(c));
  }
  return out;
}

BatchCollective from_timed(const TimedCollective& t, const std::vector<RankCollectives>& ranks) {
  BatchCollective c;
  c.id = t.id;
  c.first_rank = t.first_rank;
  c.first = t.first;
  c.full_mib = t.full_mib;
  c.latency_us = ns_to_us(t.latency_ns);
  c.end_skew_us = ns_to_us(t.end_skew_ns);
  c.start_skew_us = c.mean_wait_us = kNaN;
  c.algo_gbps = t.algo_gbps;
  c.bus_gbps = t.bus_gbps;
  std::int64_t most = -1;
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < t.match.members.size(); ++k) {
    const auto& [rank, row] = t.match.members[k];
    BatchCollective::Member member{ranks[rank].rank, ns_to_us(t.start_ns[k]),
                                   ns_to_us(ranks[rank].rows[row].dur_ns)};
    if (t.waits_known) {
      member.wait_us = ns_to_us(t.wait_ns[k]);
      sum += t.wait_ns[k];
      if (t.wait_ns[k] >= most) {
        most = t.wait_ns[k];
        c.earliest_rank = member.rank;
      }
    }
    c.members.push_back(member);
  }
  if (t.waits_known) {
    c.start_skew_us = ns_to_us(most);
    c.mean_wait_us = ns_to_us(sum) / static_cast<double>(c.members.size());
  }
  return c;
}

BatchLongRow kernel_row(const RankCollectives& rank, const Collective& c,
                        const TimedCollective* timed) {
  BatchLongRow row;
  row.rank = rank.rank;
  row.rank_data = &rank;
  row.collective = &c;
  row.ts_us = ns_to_us(c.ts_ns);
  row.dur_us = ns_to_us(c.dur_ns);
  row.in_mib = mib_of(rank, c, c.in_nelems);
  row.out_mib = mib_of(rank, c, c.out_nelems);
  if (timed != nullptr) {
    row.id = timed->id;
    row.index = timed->match.index;
  }
  return row;
}

/// Returns the results of collective_facts(). Collectives are in the order of the kernels, as in
/// the reference.
BatchCollectives our_collectives(const std::vector<RankCollectives>& ranks) {
  BatchCollectives out;
  const Result<CollectiveFacts> facts = collective_facts(ranks, CollectiveOptions{});
  if (!facts)
    return out; // no rank has a collective
  std::map<std::pair<std::size_t, std::size_t>, const TimedCollective*> timed;
  for (const TimedCollective& t : facts->collectives)
    for (const auto& member : t.match.members)
      timed[member] = &t;
  std::unordered_map<const TimedCollective*, BatchCollective> made;
  std::vector<const TimedCollective*> order;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t i = 0; i < ranks[r].rows.size(); ++i) {
      const auto found = timed.find({r, i});
      const TimedCollective* const t = found == timed.end() ? nullptr : found->second;
      out.kernels.push_back(kernel_row(ranks[r], ranks[r].rows[i], t));
      if (t == nullptr ||
          (!synchronises(t->match.kind) && t->match.kind != CollectiveKind::kAllToAllV))
        continue;
      const auto [it, fresh] = made.try_emplace(t);
      if (fresh) {
        it->second = from_timed(*t, ranks);
        it->second.in_mib = out.kernels.back().in_mib;
        it->second.out_mib = out.kernels.back().out_mib;
        order.push_back(t);
      }
      add_sent(out.kernels.back(), it->second);
    }
  for (const TimedCollective* t : order)
    (t->match.kind == CollectiveKind::kAllToAllV ? out.all_to_all_v : out.synchronous)
        .push_back(std::move(made[t]));
  for (const CollectiveProblem& p : facts->problems)
    out.problems.push_back(fmt::format("group {}, rank {}: {}", p.group, p.rank, p.problem));
  return out;
}

std::vector<BatchCollectiveSum> sums_of(const std::vector<BatchCollective>& list, bool compat) {
  // the reference adds up collectives of equal size across groups
  using Key = std::tuple<std::string_view, std::string_view, std::int64_t, std::string_view,
                         std::string_view>;
  std::map<Key, std::vector<const BatchCollective*>> groups;
  for (const BatchCollective& c : list) {
    const std::string_view name = c.first_rank->text(c.first->name);
    const std::string_view dtype = c.first_rank->text(c.first->dtype);
    if (compat && (name.empty() || dtype.empty() || c.first->in_nelems == kNoId))
      continue;
    groups[{name, dtype, c.first->in_nelems,
            compat ? std::string_view() : c.first_rank->text(c.first->pg_name),
            compat ? std::string_view() : c.first_rank->text(c.first->pg_ranks)}]
        .push_back(&c);
  }
  std::vector<BatchCollectiveSum> out;
  for (const auto& group : groups) {
    const std::vector<const BatchCollective*>& rows = group.second;
    BatchCollectiveSum sum;
    sum.first = rows.front();
    sum.count = rows.size();
    const auto stats = [&rows](double BatchCollective::*member) {
      std::vector<double> values;
      for (const BatchCollective* c : rows)
        values.push_back(c->*member);
      return stats_of(std::move(values));
    };
    sum.latency_us = stats(&BatchCollective::latency_us);
    sum.start_skew_us = stats(&BatchCollective::start_skew_us);
    sum.end_skew_us = stats(&BatchCollective::end_skew_us);
    sum.algo_gbps = stats(&BatchCollective::algo_gbps);
    sum.bus_gbps = stats(&BatchCollective::bus_gbps);
    out.push_back(sum);
  }
  largest_first(out, [](const BatchCollectiveSum& s) { return s.latency_us.sum; });
  return out;
}

} // namespace

BatchCollectives combine_collectives(const std::vector<RankCollectives>& ranks, bool compat) {
  BatchCollectives out = compat ? old_collectives(ranks) : our_collectives(ranks);
  out.sums = sums_of(out.synchronous, compat);
  largest_first(out.all_to_all_v, [](const BatchCollective& c) { return c.sent_mib; });
  return out;
}

} // namespace rankscope
