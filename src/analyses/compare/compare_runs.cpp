// Differences of timelines.
#include "analyses/compare/compare_runs.h"

#include "base/rank_excess.h"
#include "base/sample_intervals.h"
#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace rankscope {
namespace {

struct Entry {
  std::optional<double> ms, percent;
};

Entry entry(const RankTimeline& timeline, TimeKind kind) {
  const auto found = timeline.kinds.find(kind);
  return found == timeline.kinds.end()
             ? Entry{}
             : Entry{ns_to_ms(found->second.time_ns), found->second.percent};
}

double average(const std::vector<double>& values, bool geomean) {
  double sum = 0;
  double n = 0;
  for (const double v : values) {
    if (geomean && v <= 0)
      continue;
    sum += geomean ? std::log(v) : v;
    n += 1;
  }
  return n == 0 ? 0.0 : geomean ? std::exp(sum / n) : sum / n;
}

using RankTimelines = std::map<std::int64_t, RankTimeline>;

/// Returns the mean over the ranks that have the row.
Entry mean(const RankTimelines& ranks, TimeKind kind, bool geomean = false) {
  std::vector<double> ms;
  std::vector<double> percent;
  for (const auto& [rank, side] : ranks)
    if (const Entry e = entry(side, kind); e.ms) {
      ms.push_back(*e.ms);
      percent.push_back(*e.percent);
    }
  if (ms.empty())
    return {};
  return {average(ms, geomean), average(percent, geomean)};
}

std::vector<double> samples(const RankTimeline& side, TimeKind kind) {
  std::vector<double> out;
  if (const auto found = side.step_ns.find(kind); found != side.step_ns.end())
    for (const auto& [step, ns] : found->second)
      out.push_back(ns_to_ms(ns));
  return out;
}

/// Returns the mean over ranks for each step that all ranks have.
std::vector<double> mean_samples(const RankTimelines& ranks, TimeKind kind) {
  std::map<std::int64_t, std::pair<double, std::size_t>> steps;
  for (const auto& [rank, side] : ranks)
    if (const auto found = side.step_ns.find(kind); found != side.step_ns.end())
      for (const auto& [step, ns] : found->second) {
        steps[step].first += ns_to_ms(ns);
        ++steps[step].second;
      }
  std::vector<double> out;
  for (const auto& [step, sum] : steps)
    if (sum.second == ranks.size())
      out.push_back(sum.first / static_cast<double>(sum.second));
  return out;
}

RankTimelines timelines_of(const ComparedRun& run, const std::set<std::int64_t>& ranks) {
  RankTimelines out = run.ranks;
  std::erase_if(out, [&ranks](const auto& rank) { return !ranks.contains(rank.first); });
  return out;
}

/// Returns whether the times per step of a rank lack the idle time between the steps, and those of
/// the other rank contain it.
bool lacks_idle(const RankTimeline& rank, const RankTimeline& other) {
  return !rank.step_ns.empty() && !counts_idle(rank) && counts_idle(other);
}

bool lacks_idle(const ComparedRun& run, const ComparedRun& other) {
  return std::ranges::any_of(run.ranks, [&other](const auto& rank) {
    const auto found = other.ranks.find(rank.first);
    return found != other.ranks.end() && lacks_idle(rank.second, found->second);
  });
}

/// Returns the samples without those that lack idle time.
std::vector<double> comparable(TimeKind kind, bool lacks_idle, std::vector<double> of_steps) {
  if (lacks_idle && has_idle_before(kind))
    of_steps.clear();
  return of_steps;
}

/// A lag-1 correlation with its standard error.
struct StepDependence {
  double correlation = 0, error = 0;
};

/// Returns the correlation of successive steps, pooled over the ranks of both runs. The standard
/// error assumes that all ranks of a run have the same noise, so that each run is one series.
StepDependence step_dependence(const ComparedRun& base, const ComparedRun& test, TimeKind kind) {
  std::vector<StepSeries> series;
  double steps = 0;
  for (const ComparedRun* run : {&base, &test})
    for (const auto& [rank, side] : run->ranks)
      if (StepSeries values = samples(side, kind); values.size() > 2) {
        steps += static_cast<double>(values.size());
        series.push_back(std::move(values));
      }
  if (series.empty())
    return {};
  return {lag1_correlation(series), 1 / std::sqrt(2 * steps / static_cast<double>(series.size()))};
}

// only two kinds: the maximum of many would be far above 0 by chance
constexpr std::array kDependenceKinds = {TimeKind::kTotal, TimeKind::kComputation};

/// Returns the larger correlation of those that exceed twice their error.
std::optional<double> clear_dependence(const ComparedRun& base, const ComparedRun& test) {
  std::optional<double> out;
  for (const TimeKind kind : kDependenceKinds)
    if (const StepDependence steps = step_dependence(base, test, kind);
        steps.correlation > std::max(2 * steps.error, out.value_or(0)))
      out = std::min(kMostDependence, steps.correlation);
  return out;
}

/// Returns the clock resolution in ns: 1000 if all step times are multiples of 1 us, else 1.
std::int64_t clock_of(const ComparedRun& run) {
  constexpr std::int64_t kMicrosecond = 1000;
  bool known = false;
  for (const auto& [rank, side] : run.ranks)
    for (const auto& [kind, steps] : side.step_ns)
      for (const auto& [step, ns] : steps) {
        if (ns % kMicrosecond != 0)
          return 1;
        known = true;
      }
  return known ? kMicrosecond : 1;
}

/// The rows of one sheet, which are judged together.
class CompareRunsRows {
public:
  void add(std::optional<std::int64_t> rank, TimeKind kind, const Entry& base, const Entry& test,
           const std::vector<double>& base_samples, const std::vector<double>& test_samples) {
    rows_.push_back({rank, kind, {base.ms, test.ms}, {base.percent, test.percent}, {}});
    measured_.push_back({base.ms, test.ms, sample_stats(base_samples), sample_stats(test_samples),
                         Better::kLower, 0});
  }
  std::vector<TimelineChange> judged(const JudgeRule& rule) && {
    for (const TimeKind kind : {TimeKind::kTotalComm, TimeKind::kExposedComm}) {
      std::vector<std::size_t> over_ranks;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].kind == kind && rows_[i].rank)
          over_ranks.push_back(i);
      set_scatter(measured_, over_ranks);
    }
    for (Measured& m : measured_) {
      m.base_samples = with_rounding(m.base_samples, ns_to_ms(rule.clock_ns));
      m.test_samples = with_rounding(m.test_samples, ns_to_ms(rule.clock_ns));
    }
    std::map<TimeKind, std::vector<SampleStats*>> samples_by_kind;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].rank) // without the rows of means: their degrees of freedom would become too
                         // many
        for (SampleStats* s : {&measured_[i].base_samples, &measured_[i].test_samples})
          samples_by_kind[rows_[i].kind].push_back(s);
    for (const auto& [kind, samples] : samples_by_kind)
      lend_variance(samples);
    const std::vector<Judgement> judgements = judge_all(measured_, rule);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].judgement = judgements[i];
    return std::move(rows_);
  }

private:
  std::vector<TimelineChange> rows_;
  std::vector<Measured> measured_;
};

} // namespace

std::optional<double> MetricChange::difference() const {
  return base && test ? std::optional(*test - *base) : std::nullopt;
}

std::optional<double> MetricChange::improvement() const {
  return base && test ? improvement_percent(*base, *test, better) : std::nullopt;
}

std::optional<double> MetricChange::ratio() const {
  return base && test && *base != 0 ? std::optional(*test / *base) : std::nullopt;
}

std::vector<TimeKind> kinds_of(const std::vector<const ComparedRun*>& runs) {
  std::set<std::pair<std::string_view, TimeKind>> kinds;
  for (const ComparedRun* run : runs)
    for (const auto& [rank, side] : run->ranks)
      for (const auto& [kind, time] : side.kinds)
        kinds.emplace(time_kind_name(kind), kind);
  std::vector<TimeKind> out;
  for (const auto& [name, kind] : kinds)
    out.push_back(kind);
  return out;
}

bool Comparability::same_work() const {
  return !work.differs() && !(operators && operators->differs());
}

Comparability comparability(const ComparedRun& base, const ComparedRun& test) {
  return {workload_overlap(base.operators, test.operators), work_difference(base.work, test.work),
          clear_dependence(base, test)};
}

bool same_ranks(const ComparedRun& a, const ComparedRun& b) {
  return a.ranks.empty() || b.ranks.empty() ||
         (a.damaged.empty() && b.damaged.empty() &&
          std::ranges::equal(a.ranks, b.ranks, {}, &RankTimelines::value_type::first,
                             &RankTimelines::value_type::first));
}

std::set<std::int64_t> common_ranks(const std::vector<const ComparedRun*>& runs) {
  std::set<std::int64_t> out;
  for (const auto& entry : runs.front()->ranks)
    if (std::ranges::all_of(runs, [&](const ComparedRun* run) {
          return run->ranks.contains(entry.first) &&
                 std::ranges::find(run->damaged, entry.first) == run->damaged.end();
        }))
      out.insert(entry.first);
  return out;
}

std::size_t step_count(const ComparedRun& run) {
  std::size_t out = 0;
  for (const auto& [rank, timeline] : run.ranks)
    if (const auto steps = timeline.step_ns.find(TimeKind::kComputation);
        steps != timeline.step_ns.end())
      out = std::max(out, steps->second.size());
  return out;
}

bool same_idle_time(const ComparedRun& a, const ComparedRun& b) {
  return !lacks_idle(a, b) && !lacks_idle(b, a);
}

JudgeRule rule_of_runs(const ComparedRun& base, const ComparedRun& test, JudgeRule rule) {
  for (const TimeKind kind : kDependenceKinds) {
    const StepDependence steps = step_dependence(base, test, kind);
    rule.step_correlation =
        std::max(rule.step_correlation,
                 std::min(kMostDependence, cautious_correlation(steps.correlation, steps.error)));
  }
  rule.clock_ns = std::min(clock_of(base), clock_of(test));
  return rule;
}

std::vector<TimelineSummaryRow> timeline_summary(const ComparedRun& run, bool geomean) {
  std::vector<TimelineSummaryRow> out;
  for (const TimeKind kind : kinds_of({&run})) {
    TimelineSummaryRow row;
    row.kind = kind;
    for (const auto& [rank, side] : run.ranks) {
      const Entry e = entry(side, kind);
      if (!e.ms)
        continue;
      if (row.ranks == 0 || *e.ms > row.max_ms)
        row.slowest_rank = rank;
      row.min_ms = row.ranks == 0 ? *e.ms : std::min(row.min_ms, *e.ms);
      row.max_ms = row.ranks == 0 ? *e.ms : std::max(row.max_ms, *e.ms);
      ++row.ranks;
    }
    const Entry m = mean(run.ranks, kind, geomean);
    row.mean_ms = m.ms.value_or(0);
    row.mean_percent = m.percent.value_or(0);
    out.push_back(row);
  }
  return out;
}

TimelineComparison compare_timelines(const ComparedRun& base, const ComparedRun& test,
                                     const JudgeRule& rule) {
  const std::vector<TimeKind> kinds = kinds_of({&base, &test});
  CompareRunsRows means;
  const std::set<std::int64_t> common = common_ranks({&base, &test});
  const RankTimelines base_ranks = timelines_of(base, common);
  const RankTimelines test_ranks = timelines_of(test, common);
  // one side keeps its samples, so that the complete runs are not compared in their place
  const bool base_lacks = lacks_idle(base, test);
  const bool test_lacks = !base_lacks && lacks_idle(test, base);
  for (const TimeKind kind : kinds)
    means.add(std::nullopt, kind, mean(base_ranks, kind), mean(test_ranks, kind),
              comparable(kind, base_lacks, mean_samples(base_ranks, kind)),
              comparable(kind, test_lacks, mean_samples(test_ranks, kind)));
  std::set<std::int64_t> ranks;
  for (const ComparedRun* run : {&base, &test})
    for (const auto& [rank, side] : run->ranks)
      ranks.insert(rank);
  const RankTimeline none;
  const auto side_of = [&none](const ComparedRun& run, std::int64_t rank) -> const RankTimeline& {
    const auto found = run.ranks.find(rank);
    return found == run.ranks.end() ? none : found->second;
  };
  CompareRunsRows by_rank;
  for (const std::int64_t rank : ranks) {
    const RankTimeline& x = side_of(base, rank);
    const RankTimeline& y = side_of(test, rank);
    const bool x_lacks = lacks_idle(x, y);
    const bool y_lacks = lacks_idle(y, x);
    for (const TimeKind kind : kinds) {
      const Entry left = entry(x, kind);
      const Entry right = entry(y, kind);
      if (left.ms || right.ms)
        by_rank.add(rank, kind, left, right, comparable(kind, x_lacks, samples(x, kind)),
                    comparable(kind, y_lacks, samples(y, kind)));
    }
  }
  return {std::move(means).judged(rule), std::move(by_rank).judged(rule)};
}

Comparison compare_runs(ComparedRun base, std::vector<ComparedRun> tests, const JudgeRule& rule) {
  Comparison out;
  out.base = std::move(base);
  out.tests = std::move(tests);
  out.rule = rule;
  for (const ComparedRun& test : out.tests) {
    out.comparability.push_back(comparability(out.base, test));
    JudgeRule pair_rule = rule_of_runs(out.base, test, rule);
    pair_rule.same_work = rule.any_work || out.comparability.back().same_work();
    out.rules.push_back(pair_rule);
    out.timelines.push_back(compare_timelines(out.base, test, pair_rule));
    out.collectives.push_back(compare_collectives(out.base, test, pair_rule));
    out.changes.push_back(same_ranks(out.base, test) && same_idle_time(out.base, test)
                              ? what_changed(out.base.work, test.work, pair_rule)
                              : WhatChanged{});
  }
  out.dashboard = dashboard_of(out);
  return out;
}

} // namespace rankscope
