// Differences of collectives between two runs.
#include "analyses/compare/compare_runs.h"

#include "analyses/collectives/collective_report.h"
#include "base/units.h"

#include <cmath>
#include <map>
#include <utility>

namespace rankscope {
namespace {

/// A key's rows of both runs; none where a run has no such row.
template <class Key, class Row> struct Pair {
  Key key;
  const Row* base = nullptr;
  const Row* test = nullptr;
};

template <class Key, class Row>
std::vector<Pair<Key, Row>> pairs_of(const std::map<Key, Row>& base,
                                     const std::map<Key, Row>& test) {
  std::map<Key, Pair<Key, Row>> out;
  for (const auto& [key, row] : base)
    out[key].base = &row;
  for (const auto& [key, row] : test)
    out[key].test = &row;
  std::vector<Pair<Key, Row>> pairs;
  for (auto& [key, pair] : out)
    pairs.push_back({key, pair.base, pair.test});
  return pairs;
}

/// A figure of both rows, where there are rows and the figure is known.
template <class P, class Of>
FigureChange figure(const P& pair, Of of, Better better = Better::kLower) {
  const auto value = [&of](const auto* row) {
    const double v = row == nullptr ? NAN : static_cast<double>(of(*row));
    return std::isnan(v) ? std::nullopt : std::optional(v);
  };
  return {value(pair.base), value(pair.test), better};
}

/// The samples when they are those of the row: as many of them as it counts.
SampleStats samples_of(const SampleSet& samples, std::size_t count) {
  return samples.size() == count ? samples.stats() : SampleStats{};
}

/// A collective's row with its samples.
struct Synced {
  const SyncSummary* row = nullptr;
  SampleStats latency, bus;
};

std::map<CollectiveKey, Synced> synced_of(const RunCollectives& run) {
  std::map<CollectiveKey, Synced> out;
  for (const SyncSummary& s : run.summary) {
    const CollectiveKey key = key_of(s);
    Synced row{&s, {}, {}};
    if (const auto found = run.samples.find(key);
        found != run.samples.end() && found->second.belong_to(s)) {
      row.latency = found->second.latency_us.stats();
      row.bus = found->second.bus_gbps.stats();
    }
    out.emplace(key, row); // the first row of a key
  }
  return out;
}

std::vector<CollectiveChange> all_ranks(const RunCollectives& base, const RunCollectives& test,
                                        const JudgeRule& rule) {
  std::vector<CollectiveChange> out;
  std::vector<Measured> latencies;
  std::vector<Measured> bandwidths;
  const auto a = synced_of(base);
  const auto b = synced_of(test);
  const auto stats_of_side = [](const Synced* s, SampleStats Synced::*which) {
    return s == nullptr ? SampleStats{} : s->*which;
  };
  for (const auto& pair : pairs_of(a, b)) {
    CollectiveChange c;
    c.key = pair.key;
    c.latency_us = figure(pair, [](const Synced& s) { return s.row->latency_us.mean; });
    c.algo_gbps = figure(
        pair, [](const Synced& s) { return s.row->algo_gbps.mean; }, Better::kHigher);
    c.bus_gbps = figure(
        pair, [](const Synced& s) { return s.row->bus_gbps.mean; }, Better::kHigher);
    c.total_ms = figure(pair, [](const Synced& s) { return s.row->total_latency_ms; });
    c.count = figure(pair, [](const Synced& s) { return s.row->count; });
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
  double only_mean_us = NAN; ///< as the one row says
  SampleStats samples;
  [[nodiscard]] double mean_us() const {
    return rows == 1 ? only_mean_us : sum_us / static_cast<double>(count);
  }
};

std::map<RankCollectiveKey, Durations> durations_of(const RunCollectives& run) {
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
      d.samples = samples_of(found->second, d.count);
  return out;
}

std::vector<RankCollectiveChange> by_rank(const RunCollectives& base, const RunCollectives& test,
                                          const JudgeRule& rule) {
  std::vector<RankCollectiveChange> out;
  std::vector<Measured> measured;
  const auto a = durations_of(base);
  const auto b = durations_of(test);
  for (const auto& pair : pairs_of(a, b)) {
    RankCollectiveChange c;
    c.rank = pair.key.rank;
    c.key = pair.key.collective;
    c.stream = pair.key.stream;
    c.mean_us = figure(pair, [](const Durations& d) { return d.mean_us(); });
    c.sum_us = figure(pair, [](const Durations& d) { return d.sum_us; });
    c.count = figure(pair, [](const Durations& d) { return d.count; });
    measured.push_back({c.mean_us.base, c.mean_us.test,
                        pair.base == nullptr ? SampleStats{} : pair.base->samples,
                        pair.test == nullptr ? SampleStats{} : pair.test->samples});
    out.push_back(std::move(c));
  }
  std::map<CollectiveKey, std::vector<std::size_t>> over_ranks;
  for (std::size_t i = 0; i < out.size(); ++i)
    over_ranks[out[i].key].push_back(i);
  for (const auto& [key, indices] : over_ranks)
    take_scatter(measured, indices);
  const std::vector<Judgement> judgements = judge_all(measured, rule);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].judgement = judgements[i];
  return out;
}

std::string text_of(const RankCollectives& r, StrId id) {
  return std::string(r.text(id));
}

} // namespace

RunCollectives run_collectives(const CollectiveFacts& facts) {
  RunCollectives out;
  out.summary = facts.summary;
  out.rank_summary = facts.rank_summary;
  out.notes = sync_summary_notes(facts.compat_tracelens);
  out.clocks = facts.clocks.empty() ? ClockState::kRaw : ClockState::kAligned;
  for (const SyncCollective& s : facts.synchronising) {
    const TimedCollective& t = *s.timed;
    CollectiveSamples& samples =
        out.samples[{text_of(*t.first_rank, t.first->name), text_of(*t.first_rank, t.first->dtype),
                     t.first->in_nelems, t.match.pg}];
    samples.latency_us.push_back(ns_to_us(t.latency_ns));
    if (t.told_waits) // as its row of the summary
      samples.start_skew_us.push_back(ns_to_us(s.start_skew_ns));
    samples.bus_gbps.push_back(t.bus_gbps);
  }
  for (const CollectiveKernel& k : facts.kernels) {
    const Collective& c = *k.collective;
    out.rank_dur_us[{k.rank->rank,
                     {text_of(*k.rank, c.name), text_of(*k.rank, c.dtype), c.in_nelems,
                      text_of(*k.rank, c.pg_name)},
                     c.stream}]
        .push_back(ns_to_us(c.dur_ns));
  }
  return out;
}

CollectiveComparison compare_collectives(const ComparedRun& base, const ComparedRun& test,
                                         const JudgeRule& rule) {
  return {all_ranks(base.collectives, test.collectives, rule),
          by_rank(base.collectives, test.collectives, rule)};
}

} // namespace rankscope
