// Differences of collectives between two runs.
#include "analyses/compare/compare_runs.h"

#include "analyses/collectives/collective_report.h"
#include "base/units.h"

#include <cmath>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

const std::vector<double> kNone;

/// The first row of each key.
template <class Row, class KeyOf> auto rows_by(const std::vector<Row>& rows, KeyOf key_of_row) {
  std::map<std::decay_t<decltype(key_of_row(rows.front()))>, const Row*> out;
  for (const Row& row : rows)
    out.emplace(key_of_row(row), &row);
  return out;
}

template <class Map> auto keys_of(const Map& a, const Map& b) {
  std::set<typename Map::key_type> keys;
  for (const Map* rows : {&a, &b})
    for (const auto& [key, row] : *rows)
      keys.insert(key);
  return keys;
}

template <class Map> auto row_at(const Map& rows, const typename Map::key_type& key) {
  const auto found = rows.find(key);
  return found == rows.end() ? nullptr : found->second;
}

/// A figure of both rows, where there are rows and the figure is known.
template <class Row, class Of>
FigureChange figure(const Row* base, const Row* test, Of of, Better better = Better::kLower) {
  const auto value = [&of](const Row* row) {
    const double v = row == nullptr ? NAN : static_cast<double>(of(*row));
    return std::isnan(v) ? std::nullopt : std::optional(v);
  };
  return {value(base), value(test), better};
}

} // namespace

RunCollectives run_collectives(const CollectiveFacts& facts) {
  RunCollectives out;
  out.summary = facts.summary;
  out.rank_summary = facts.rank_summary;
  out.notes = sync_summary_notes(facts.compat_tracelens);
  for (const SyncCollective& s : facts.synchronising) {
    const TimedCollective& t = *s.timed;
    CollectiveSamples& samples = out.samples[{std::string(t.first_rank->text(t.first->name)),
                                              std::string(t.first_rank->text(t.first->dtype)),
                                              t.first->in_nelems, t.match.pg}];
    samples.latency_us.push_back(ns_to_us(t.latency_ns));
    samples.start_skew_us.push_back(ns_to_us(s.start_skew_ns));
  }
  return out;
}

CollectiveComparison compare_collectives(const ComparedRun& base, const ComparedRun& test,
                                         double threshold_percent) {
  CollectiveComparison out;
  const auto a = rows_by(base.collectives.summary, [](const SyncSummary& s) { return key_of(s); });
  const auto b = rows_by(test.collectives.summary, [](const SyncSummary& s) { return key_of(s); });
  const auto samples_of = [](const ComparedRun& run, const CollectiveKey& key) -> const auto& {
    const auto found = run.collectives.samples.find(key);
    return found == run.collectives.samples.end() ? kNone : found->second.latency_us;
  };
  for (const CollectiveKey& key : keys_of(a, b)) {
    const SyncSummary* x = row_at(a, key);
    const SyncSummary* y = row_at(b, key);
    CollectiveChange c;
    c.key = key;
    c.latency_us = figure(x, y, [](const SyncSummary& s) { return s.latency_us.mean; });
    c.algo_gbps = figure(
        x, y, [](const SyncSummary& s) { return s.algo_gbps.mean; }, Better::kHigher);
    c.bus_gbps = figure(
        x, y, [](const SyncSummary& s) { return s.bus_gbps.mean; }, Better::kHigher);
    c.total_ms = figure(x, y, [](const SyncSummary& s) { return s.total_latency_ms; });
    c.count = figure(x, y, [](const SyncSummary& s) { return s.count; });
    c.judgement = judge(c.latency_us.base, c.latency_us.test, samples_of(base, key),
                        samples_of(test, key), threshold_percent);
    out.all_ranks.push_back(std::move(c));
  }
  const auto long_key = [](const RankSummary& s) {
    return std::tuple(s.rank, CollectiveKey{s.name, s.dtype, s.in_nelems, s.group}, s.stream);
  };
  const auto la = rows_by(base.collectives.rank_summary, long_key);
  const auto lb = rows_by(test.collectives.rank_summary, long_key);
  for (const auto& key : keys_of(la, lb)) {
    const RankSummary* x = row_at(la, key);
    const RankSummary* y = row_at(lb, key);
    RankCollectiveChange c;
    c.rank = std::get<0>(key);
    c.key = std::get<1>(key);
    c.stream = std::get<2>(key);
    c.mean_us = figure(x, y, [](const RankSummary& s) { return s.dur_us.mean; });
    c.sum_us = figure(x, y, [](const RankSummary& s) { return s.dur_us.sum; });
    c.count = figure(x, y, [](const RankSummary& s) { return s.count; });
    c.judgement = judge(c.mean_us.base, c.mean_us.test, kNone, kNone, threshold_percent);
    out.by_rank.push_back(std::move(c));
  }
  return out;
}

} // namespace rankscope
