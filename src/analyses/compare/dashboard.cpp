// The dashboard: key metrics of the GPU and of the collectives that both runs have.
#include "analyses/compare/compare_runs.h"

#include "base/sample_intervals.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace rankscope {
namespace {

struct CommonRow {
  const SyncSummary* base;
  const SyncSummary* test;
  const CollectiveSamples* base_samples;
  const CollectiveSamples* test_samples;
  [[nodiscard]] double count() const { return static_cast<double>(base->count); }
};

std::vector<CommonRow> common_rows(const RunCollectives& base, const RunCollectives& test) {
  static const CollectiveSamples kNone;
  const auto samples_of = [](const RunCollectives& run, const CollectiveKey& key) {
    const auto found = run.samples.find(key);
    return found == run.samples.end() ? &kNone : &found->second;
  };
  const auto by_key = [](const RunCollectives& run) {
    std::map<CollectiveKey, const SyncSummary*> rows;
    for (const SyncSummary& s : run.summary)
      rows.emplace(key_of(s), &s);
    return rows;
  };
  std::vector<CommonRow> out;
  const auto others = by_key(test);
  for (const auto& [key, row] : by_key(base))
    if (const auto found = others.find(key); found != others.end())
      out.push_back({row, found->second, samples_of(base, key), samples_of(test, key)});
  return out;
}

/// A metric over the collectives that both runs have: a weighted sum over the collectives, in total
/// and per profiler step.
class MixSum {
public:
  MixSum(Stats SyncSummary::*stats, SampleSet CollectiveSamples::*samples)
      : stats_(stats), samples_(samples) {}

  /// Adds a collective; ignores collectives with an unknown value on one side.
  void add(const CommonRow& row, double weight) {
    Term term{weight, (row.base->*stats_).mean, (row.test->*stats_).mean, {}, {}, row.base->group};
    if (std::isnan(term.base) || std::isnan(term.test))
      return;
    if (row.base_samples->belong_to(*row.base))
      term.base_steps = row.base_samples->*samples_;
    if (row.test_samples->belong_to(*row.test))
      term.test_steps = row.test_samples->*samples_;
    terms_.push_back(std::move(term));
  }

  /// Divides the weights by their sum, which makes the weighted sum a mean.
  void divide() {
    double weights = 0;
    for (const Term& t : terms_)
      weights += t.weight;
    if (weights > 0)
      for (Term& t : terms_)
        t.weight /= weights;
  }

  [[nodiscard]] Measured measured(Better better) const {
    Measured out;
    out.better = better;
    for (const Term& t : terms_) {
      out.base = out.base.value_or(0) + t.weight * t.base;
      out.test = out.test.value_or(0) + t.weight * t.test;
    }
    out.base_samples = step_sums(&Term::base_steps);
    out.test_samples = step_sums(&Term::test_steps);
    return out;
  }

  /// Returns the variance of the sum between runs, from the scatter of the groups' relative
  /// changes; 0 for one group. The late rank and its delay vary from run to run and affect all
  /// collectives of a group. The samples of one run do not show this.
  [[nodiscard]] double between_groups() const {
    struct Group {
      double base = 0, difference = 0;
    };
    std::map<std::string, Group> by_group;
    for (const Term& t : terms_) {
      Group& group = by_group[t.group];
      group.base += t.weight * t.base;
      group.difference += t.weight * (t.test - t.base);
    }
    std::vector<double> changes;
    double squares = 0;
    for (const auto& [name, group] : by_group) {
      if (!(group.base > 0))
        continue;
      changes.push_back(group.difference / group.base);
      squares += group.base * group.base;
    }
    return scatter_of(std::move(changes)) * squares;
  }

private:
  struct Term {
    double weight = 0, base = 0, test = 0;
    SampleSet base_steps, test_steps;
    std::string group;
  };

  /// Returns statistics of the sums per step, since collectives of one step are not independent
  /// samples. For a collective that is missing in a step, its mean is used. Empty if a collective
  /// has no steps.
  [[nodiscard]] SampleStats step_sums(SampleSet Term::*set) const {
    std::map<std::int64_t, double> sums; // by step: deviation from the mean
    double all = 0;
    for (const Term& t : terms_) {
      const std::map<std::int64_t, SampleSet::StepSum>& steps = (t.*set).steps();
      if (steps.empty())
        return {};
      const double mean = (t.*set).stats().mean;
      all += t.weight * mean;
      for (const auto& [step, sum] : steps)
        if (step >= 0 || steps.size() == 1)
          sums[step] += t.weight * (sum.mean() - mean);
    }
    std::vector<double> out;
    for (const auto& [step, deviation] : sums)
      if (step >= 0 || sums.size() == 1)
        out.push_back(all + deviation);
    return sample_stats(out);
  }

  Stats SyncSummary::*stats_;
  SampleSet CollectiveSamples::*samples_;
  std::vector<Term> terms_;
};

/// Returns the metrics of the mix, in the order of kMixMetrics.
std::vector<Measured> mix_of(const RunCollectives& base, const RunCollectives& test,
                             std::int64_t clock_ns) {
  using S = SyncSummary;
  using C = CollectiveSamples;
  MixSum latency_ms(&S::latency_us, &C::latency_us);    // with the baseline's counts as weights
  MixSum bus_gbps(&S::bus_gbps, &C::bus_gbps);          // with the baseline's time as weights
  MixSum skew_us(&S::start_skew_us, &C::start_skew_us); // with counts as weights; empty if clocks
                                                        // differ
  for (const CommonRow& row : common_rows(base, test)) {
    latency_ms.add(row, row.count() / 1e3);
    if (const double us = row.base->latency_us.mean; !std::isnan(us))
      bus_gbps.add(row, row.count() * us);
    if (base.clocks == test.clocks)
      skew_us.add(row, row.count());
  }
  bus_gbps.divide();
  skew_us.divide();
  std::vector<Measured> out = {latency_ms.measured(Better::kLower),
                               bus_gbps.measured(Better::kHigher),
                               skew_us.measured(Better::kLower)};
  out[2].between_runs = skew_us.between_groups();
  const double clock[] = {ns_to_ms(clock_ns), 0, ns_to_us(clock_ns)};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].base_samples = with_rounding(out[i].base_samples, clock[i]);
    out[i].test_samples = with_rounding(out[i].test_samples, clock[i]);
  }
  return out;
}

/// A metric over the common collectives.
struct MixMetric {
  const char* metric;
  const char* unit;
};
constexpr MixMetric kMixMetrics[] = {
    {"NCCL_comm_latency", "ms"}, {"NCCL_bus_bandwidth", "GB/s"}, {"NCCL_start_skew", "us"}};

std::string gpu_metric(TimeKind kind) {
  return "GPU_" + std::string(time_kind_name(kind));
}

/// Returns the baseline's value if all tests are compared with the same value.
std::optional<double> common_base(const DashboardRow& row) {
  std::optional<double> out;
  for (const std::optional<DashboardCell>& cell : row.tests) {
    if (!cell || !cell->base)
      continue;
    if (out && *out != *cell->base)
      return std::nullopt;
    out = cell->base;
  }
  return out;
}

DashboardRow row_of(TimeKind kind, const Comparison& comparison) {
  DashboardRow row;
  row.metric = gpu_metric(kind);
  row.unit = "ms";
  row.kind = kind;
  for (const TimelineComparison& timeline : comparison.timelines) {
    const auto found = std::ranges::find(timeline.mean, kind, &TimelineChange::kind);
    if (found == timeline.mean.end() || (!found->ms.base && !found->ms.test)) {
      row.tests.emplace_back();
      continue;
    }
    row.tests.push_back(
        DashboardCell{found->ms.base, found->ms.test, found->ms.improvement(), found->judgement});
  }
  row.base = common_base(row);
  return row;
}

/// Returns the row of a metric. `mixes` and `rules`: one for each test.
std::optional<DashboardRow> row_of(std::size_t metric,
                                   const std::vector<std::vector<Measured>>& mixes,
                                   const std::vector<JudgeRule>& rules) {
  DashboardRow row;
  row.metric = kMixMetrics[metric].metric;
  row.unit = kMixMetrics[metric].unit;
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    const Measured& sum = mixes[i][metric];
    if (!sum.base) {
      row.tests.emplace_back();
      continue;
    }
    row.tests.push_back(DashboardCell{sum.base, sum.test,
                                      improvement_percent(*sum.base, *sum.test, sum.better),
                                      judge_row(sum, rules[i], std::size(kMixMetrics))});
  }
  if (std::none_of(row.tests.begin(), row.tests.end(), [](const auto& cell) { return cell; }))
    return std::nullopt;
  row.base = common_base(row);
  return row;
}

} // namespace

std::vector<std::string> dashboard_metrics() {
  std::vector<std::string> out;
  for (std::size_t kind = 0; kind < kTimeKinds; ++kind)
    out.push_back(gpu_metric(static_cast<TimeKind>(kind)));
  for (const MixMetric& mix : kMixMetrics)
    out.emplace_back(mix.metric);
  return out;
}

Dashboard dashboard_of(const Comparison& comparison) {
  Dashboard out;
  std::vector<const ComparedRun*> runs{&comparison.base};
  for (const ComparedRun& test : comparison.tests)
    runs.push_back(&test);
  for (const TimeKind kind : kinds_of(runs))
    out.rows.push_back(row_of(kind, comparison));
  out.gpu_rows = out.rows.size();
  std::vector<std::vector<Measured>> mixes;
  for (std::size_t i = 0; i < comparison.tests.size(); ++i)
    mixes.push_back(same_ranks(comparison.base, comparison.tests[i])
                        ? mix_of(comparison.base.collectives, comparison.tests[i].collectives,
                                 comparison.rules[i].clock_ns)
                        : std::vector<Measured>(std::size(kMixMetrics)));
  for (std::size_t metric = 0; metric < std::size(kMixMetrics); ++metric)
    if (auto row = row_of(metric, mixes, comparison.rules))
      out.rows.push_back(std::move(*row));
  return out;
}

} // namespace rankscope
