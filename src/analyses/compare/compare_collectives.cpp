// Differences of collectives between two runs.
#include "analyses/compare/compare_runs.h"

#include "analyses/collectives/collective_report.h"
#include "analyses/collectives/collective_sums.h"
#include "base/sample_intervals.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace rankscope {
namespace {

/// The rows of a key in both runs; nullptr if a run has no such row.
template <class Key, class Row> struct CompareCollectivesPair {
  Key key;
  const Row* base = nullptr;
  const Row* test = nullptr;
};

template <class Key, class Row>
std::vector<CompareCollectivesPair<Key, Row>> pairs_of(const std::map<Key, Row>& base,
                                                       const std::map<Key, Row>& test) {
  std::map<Key, CompareCollectivesPair<Key, Row>> out;
  for (const auto& [key, row] : base)
    out[key].base = &row;
  for (const auto& [key, row] : test)
    out[key].test = &row;
  std::vector<CompareCollectivesPair<Key, Row>> pairs;
  for (auto& [key, pair] : out)
    pairs.push_back({key, pair.base, pair.test});
  return pairs;
}

/// Returns a metric of both rows; empty for a missing row or an unknown value.
template <class P, class Get>
MetricChange metric_change(const P& pair, Get get, Better better = Better::kLower) {
  const auto value = [&get](const auto* row) {
    const double v = row == nullptr ? NAN : static_cast<double>(get(*row));
    return std::isnan(v) ? std::nullopt : std::optional(v);
  };
  return {value(pair.base), value(pair.test), better};
}

/// Returns the samples if they belong to the row (there are `count` of them), else no samples.
SampleStats samples_of(const SampleSet& samples, std::size_t count) {
  return samples.size() == count ? samples.stats() : SampleStats{};
}

/// A collective's row with its samples.
struct Synced {
  const SyncSummary* row = nullptr;
  SampleStats latency, bus;
};

/// Returns the resolution of a bandwidth (a size divided by a latency), given the clock's
/// resolution.
double bandwidth_clock(const Synced& row, double clock_us) {
  const double latency_us = row.row->latency_us.mean;
  const double bus = row.row->bus_gbps.mean;
  return latency_us > 0 && bus > 0 ? clock_us / latency_us * bus : 0;
}

std::map<CollectiveKey, Synced> synced_of(const RunCollectives& run, double clock_us) {
  std::map<CollectiveKey, Synced> out;
  for (const SyncSummary& s : run.summary) {
    const CollectiveKey key = key_of(s);
    Synced row{&s, {}, {}};
    if (const auto found = run.samples.find(key);
        found != run.samples.end() && found->second.belong_to(s)) {
      row.latency = with_rounding(found->second.latency_us.stats(), clock_us);
      row.bus = with_rounding(found->second.bus_gbps.stats(), bandwidth_clock(row, clock_us));
    }
    out.emplace(key, row); // keeps only the first row of a key
  }
  return out;
}

std::vector<CollectiveChange> all_ranks(const RunCollectives& base, const RunCollectives& test,
                                        const JudgeRule& rule) {
  std::vector<CollectiveChange> out;
  std::vector<Measured> latencies;
  std::vector<Measured> bandwidths;
  const double clock_us = ns_to_us(rule.clock_ns);
  const auto a = synced_of(base, clock_us);
  const auto b = synced_of(test, clock_us);
  const auto stats_of_side = [](const Synced* s, SampleStats Synced::*which) {
    return s == nullptr ? SampleStats{} : s->*which;
  };
  for (const auto& pair : pairs_of(a, b)) {
    CollectiveChange c;
    c.key = pair.key;
    c.latency_us = metric_change(pair, [](const Synced& s) { return s.row->latency_us.mean; });
    c.algo_gbps = metric_change(
        pair, [](const Synced& s) { return s.row->algo_gbps.mean; }, Better::kHigher);
    c.bus_gbps = metric_change(
        pair, [](const Synced& s) { return s.row->bus_gbps.mean; }, Better::kHigher);
    c.total_ms = metric_change(pair, [](const Synced& s) { return s.row->total_latency_ms; });
    c.count = metric_change(pair, [](const Synced& s) { return s.row->count; });
    latencies.push_back({c.latency_us.base, c.latency_us.test,
                         stats_of_side(pair.base, &Synced::latency),
                         stats_of_side(pair.test, &Synced::latency)});
    bandwidths.push_back({c.bus_gbps.base, c.bus_gbps.test, stats_of_side(pair.base, &Synced::bus),
                          stats_of_side(pair.test, &Synced::bus), Better::kHigher});
    out.push_back(std::move(c));
  }
  const std::vector<Judgement> latency = judge_all(latencies, rule);
  const std::vector<Judgement> bandwidth = judge_all(bandwidths, rule);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].judgement = latency[i];
    out[i].bandwidth = bandwidth[i];
  }
  return out;
}

/// Durations on one rank and stream, all splits together.
struct Durations {
  double sum_us = 0;
  std::size_t count = 0;
  std::size_t rows = 0;
  double only_mean_us = NAN; ///< mean of the row, if there is only one
  SampleStats samples;
  [[nodiscard]] double mean_us() const {
    return rows == 1 ? only_mean_us : sum_us / static_cast<double>(count);
  }
};

std::map<RankCollectiveKey, Durations> durations_of(const RunCollectives& run, double clock_us) {
  std::map<RankCollectiveKey, Durations> out;
  for (const RankSummary& s : run.rank_summary) {
    Durations& d = out[{s.rank, {s.name, s.dtype, s.in_nelems, s.group}, s.stream}];
    d.sum_us += s.dur_us.sum;
    d.count += s.count;
    d.only_mean_us = s.dur_us.mean;
    ++d.rows;
  }
  for (auto& [key, d] : out)
    if (const auto found = run.rank_dur_us.find(key); found != run.rank_dur_us.end())
      d.samples = with_rounding(samples_of(found->second, d.count), clock_us);
  return out;
}

std::vector<RankCollectiveChange> by_rank(const RunCollectives& base, const RunCollectives& test,
                                          const JudgeRule& rule) {
  std::vector<RankCollectiveChange> out;
  std::vector<Measured> measured;
  const auto a = durations_of(base, ns_to_us(rule.clock_ns));
  const auto b = durations_of(test, ns_to_us(rule.clock_ns));
  for (const auto& pair : pairs_of(a, b)) {
    RankCollectiveChange c;
    c.rank = pair.key.rank;
    c.key = pair.key.collective;
    c.stream = pair.key.stream;
    c.mean_us = metric_change(pair, [](const Durations& d) { return d.mean_us(); });
    c.sum_us = metric_change(pair, [](const Durations& d) { return d.sum_us; });
    c.count = metric_change(pair, [](const Durations& d) { return d.count; });
    measured.push_back({c.mean_us.base, c.mean_us.test,
                        pair.base == nullptr ? SampleStats{} : pair.base->samples,
                        pair.test == nullptr ? SampleStats{} : pair.test->samples});
    out.push_back(std::move(c));
  }
  std::map<CollectiveKey, std::vector<std::size_t>> over_ranks;
  for (std::size_t i = 0; i < out.size(); ++i)
    over_ranks[out[i].key].push_back(i);
  for (const auto& [key, indices] : over_ranks)
    set_scatter(measured, indices);
  const std::vector<Judgement> judgements = judge_all(measured, rule);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].judgement = judgements[i];
  return out;
}

std::string text_of(const RankCollectives& r, StrId id) {
  return std::string(r.text(id));
}

} // namespace

void SampleSet::add(std::int64_t step, double value) {
  if (std::isnan(value))
    return;
  StepSum& sum = steps_[std::max<std::int64_t>(step, -1)];
  sum.sum += value;
  ++sum.count;
}

std::size_t SampleSet::size() const {
  std::size_t out = 0;
  for (const auto& [step, sum] : steps_)
    out += static_cast<std::size_t>(sum.count);
  return out;
}

void SampleSet::add(const SampleSet& more) {
  for (const auto& [step, sum] : more.steps_) {
    steps_[step].sum += sum.sum;
    steps_[step].count += sum.count;
  }
}

std::vector<double> SampleSet::means() const {
  std::vector<double> out;
  for (const auto& [step, sum] : steps_)
    if (step >= 0 || steps_.size() == 1)
      out.push_back(sum.mean());
  return out;
}

SampleStats SampleSet::stats() const {
  return sample_stats(means());
}

std::map<CollectiveKey, CollectiveSamples>
collective_samples(std::span<const SyncCollective> collectives) {
  std::map<CollectiveKey, CollectiveSamples> out;
  for (const SyncCollective& s : collectives) {
    const TimedCollective& t = *s.timed;
    CollectiveSamples& samples =
        out[{text_of(*t.first_rank, t.first->name), text_of(*t.first_rank, t.first->dtype),
             t.first->in_nelems, t.match.pg}];
    const std::int64_t step = t.first->step;
    samples.latency_us.add(step, ns_to_us(t.latency_ns));
    if (t.waits_known) // as in its summary row
      samples.start_skew_us.add(step, ns_to_us(s.start_skew_ns));
    samples.bus_gbps.add(step, t.bus_gbps);
  }
  return out;
}

RunCollectives run_collectives(const CollectiveFacts& facts) {
  RunCollectives out;
  std::vector<SyncCollective> complete;
  SyncSummarySums summary(facts.per_node, facts.compat_tracelens);
  for (const SyncCollective& s : facts.synchronising)
    if (!s.timed->match.incomplete()) {
      complete.push_back(s);
      summary.add(*s.timed);
    }
  out.summary = summary.take();
  out.rank_summary = facts.rank_summary;
  out.samples = collective_samples(complete);
  out.notes = sync_summary_notes(facts.compat_tracelens);
  out.clocks = facts.clocks.empty() ? ClockState::kRaw : ClockState::kAligned;
  for (const CollectiveKernel& k : facts.kernels) {
    const Collective& c = *k.collective;
    out.rank_dur_us[{k.rank->rank,
                     {text_of(*k.rank, c.name), text_of(*k.rank, c.dtype), c.in_nelems,
                      text_of(*k.rank, c.pg_name)},
                     c.stream}]
        .add(c.step, ns_to_us(c.dur_ns));
  }
  return out;
}

void add_collectives(ComparedRun& run, const CollectiveFacts& facts) {
  run.collectives = run_collectives(facts);
  add_waits(run.work, facts);
}

CollectiveComparison compare_collectives(const ComparedRun& base, const ComparedRun& test,
                                         const JudgeRule& rule) {
  CollectiveComparison out;
  if (same_ranks(base, test))
    out.all_ranks = all_ranks(base.collectives, test.collectives, rule);
  out.by_rank = by_rank(base.collectives, test.collectives, rule);
  return out;
}

} // namespace rankscope
