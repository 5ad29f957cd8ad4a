// The dashboard: key figures of the GPU and of the collectives that both runs have.
#include "analyses/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace rankscope {
namespace {

/// The mix of collectives that both runs have.
struct Mix {
  MeasuredSum latency_ms; ///< with the baseline's counts as weights
  MeasuredSum bus_gbps;   ///< with the baseline's time as weights
  MeasuredSum skew_us;    ///< with the baseline's counts as weights; none of unlike clocks
};

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

/// Adds weight * mean to both sides, and the samples behind the means. What one side does not know
/// is left out of both: false then.
bool add_term(MeasuredSum& sum, const CommonRow& row, Stats SyncSummary::*stats,
              SampleSet CollectiveSamples::*samples, double weight) {
  const double base = (row.base->*stats).mean;
  const double test = (row.test->*stats).mean;
  if (std::isnan(base) || std::isnan(test))
    return false;
  sum.base = sum.base.value_or(0) + weight * base;
  sum.test = sum.test.value_or(0) + weight * test;
  const auto with_mean = [samples](const CollectiveSamples& of, const SyncSummary& shown,
                                   double mean) {
    const SampleSet& values = of.*samples;
    return of.belong_to(shown) && values.size() > 0 ? values.stats() : SampleStats{0, mean, 0};
  };
  sum.terms.push_back({with_mean(*row.base_samples, *row.base, base),
                       with_mean(*row.test_samples, *row.test, test), weight});
  return true;
}

/// Divides by the weights, which makes a sum a mean.
void divide(MeasuredSum& sum) {
  double weights = 0;
  for (const WelchTerm& t : sum.terms)
    weights += t.weight;
  if (!(weights > 0))
    return;
  for (WelchTerm& t : sum.terms)
    t.weight /= weights;
  *sum.base /= weights;
  *sum.test /= weights;
}

/// Which rank is late, and by how much, moves from run to run, and all collectives of a group with
/// it, which the samples of one run do not show: how far the relative changes of the groups
/// scatter. `groups`: of each term. The variance of the sum; 0 for one group.
double between_groups(const MeasuredSum& sum, const std::vector<std::string>& groups) {
  struct Group {
    double base = 0, difference = 0;
  };
  std::map<std::string, Group> by_group;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const WelchTerm& t = sum.terms[i];
    Group& group = by_group[groups[i]];
    group.base += t.weight * t.base.mean;
    group.difference += t.weight * (t.test.mean - t.base.mean);
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

Mix mix_of(const RunCollectives& base, const RunCollectives& test) {
  Mix mix;
  mix.bus_gbps.better = Better::kHigher;
  std::vector<std::string> groups; // of the skew's terms
  for (const CommonRow& row : common_rows(base, test)) {
    using S = SyncSummary;
    using C = CollectiveSamples;
    add_term(mix.latency_ms, row, &S::latency_us, &C::latency_us, row.count() / 1e3);
    if (const double us = row.base->latency_us.mean; !std::isnan(us))
      add_term(mix.bus_gbps, row, &S::bus_gbps, &C::bus_gbps, row.count() * us);
    if (base.clocks == test.clocks &&
        add_term(mix.skew_us, row, &S::start_skew_us, &C::start_skew_us, row.count()))
      groups.push_back(row.base->group);
  }
  divide(mix.bus_gbps);
  divide(mix.skew_us);
  mix.skew_us.between_runs = between_groups(mix.skew_us, groups);
  return mix;
}

/// A figure of the mix.
struct MixFigure {
  const char* metric;
  const char* unit;
  MeasuredSum Mix::*sum;
};
constexpr MixFigure kFigures[] = {{"NCCL_comm_latency", "ms", &Mix::latency_ms},
                                  {"NCCL_bus_bandwidth", "GB/s", &Mix::bus_gbps},
                                  {"NCCL_start_skew", "us", &Mix::skew_us}};

std::string gpu_metric(TimeKind kind) {
  return "GPU_" + std::string(time_kind_name(kind));
}

/// The baseline's figure where all tests are held against the same one.
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
    const auto found =
        std::find_if(timeline.mean.begin(), timeline.mean.end(),
                     [kind](const TimelineChange& change) { return change.kind == kind; });
    if (found == timeline.mean.end()) {
      row.tests.emplace_back();
      continue;
    }
    row.tests.push_back(
        DashboardCell{found->ms.base, found->ms.test, found->ms.improvement(), found->judgement});
  }
  row.base = common_base(row);
  return row;
}

std::optional<DashboardRow> row_of(const MixFigure& figure, const std::vector<Mix>& mixes,
                                   const JudgeRule& rule) {
  DashboardRow row;
  row.metric = figure.metric;
  row.unit = figure.unit;
  for (const Mix& mix : mixes) {
    const MeasuredSum& sum = mix.*figure.sum;
    if (!sum.base) {
      row.tests.emplace_back();
      continue;
    }
    row.tests.push_back(DashboardCell{sum.base, sum.test,
                                      improvement_percent(*sum.base, *sum.test, sum.better),
                                      judge_sum(sum, rule, std::size(kFigures))});
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
  for (const MixFigure& figure : kFigures)
    out.emplace_back(figure.metric);
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
  std::vector<Mix> mixes;
  for (const ComparedRun& test : comparison.tests)
    mixes.push_back(mix_of(comparison.base.collectives, test.collectives));
  for (const MixFigure& figure : kFigures)
    if (auto row = row_of(figure, mixes, comparison.rule))
      out.rows.push_back(std::move(*row));
  return out;
}

} // namespace rankscope
