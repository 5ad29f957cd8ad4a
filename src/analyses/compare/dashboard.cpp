// The dashboard: key figures of the GPU and of the collectives that both runs have.
#include "analyses/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace rankscope {
namespace {

/// The mix of collectives that both runs have, with the baseline's counts as weights.
struct Mix {
  double base_ms = 0, test_ms = 0;
  double base_rate = 0, test_rate = 0; ///< bus bandwidth, weighted by time
  double base_skew_us = 0, test_skew_us = 0;
  /// 95 % half widths of test_ms - base_ms and of the skews' difference; none when a collective has
  /// fewer than two samples on a side.
  std::optional<double> half_ms, half_skew_us;
  std::size_t base_samples = 0, test_samples = 0;
  bool any = false;
};

double or_zero(double v) {
  return std::isnan(v) ? 0 : v;
}

Mix mix_of(const RunCollectives& base, const RunCollectives& test) {
  static const CollectiveSamples kNone;
  const auto samples_of = [](const RunCollectives& run, const CollectiveKey& key) -> const auto& {
    const auto found = run.samples.find(key);
    return found == run.samples.end() ? kNone : found->second;
  };
  const auto by_key = [](const RunCollectives& run) {
    std::map<CollectiveKey, const SyncSummary*> rows;
    for (const SyncSummary& s : run.summary)
      rows.emplace(key_of(s), &s);
    return rows;
  };
  Mix mix;
  double count_sum = 0;
  std::vector<WelchTerm> latency;
  std::vector<WelchTerm> skew;
  const auto others = by_key(test);
  for (const auto& [key, x] : by_key(base)) {
    const auto found = others.find(key);
    if (found == others.end())
      continue;
    const SyncSummary* y = found->second;
    if (std::isnan(x->latency_us.mean) || std::isnan(y->latency_us.mean))
      continue;
    const auto count = static_cast<double>(x->count);
    const double base_ms = count * x->latency_us.mean / 1e3;
    const double test_ms = count * y->latency_us.mean / 1e3;
    mix.any = true;
    count_sum += count;
    mix.base_ms += base_ms;
    mix.test_ms += test_ms;
    mix.base_rate += base_ms * or_zero(x->bus_gbps.mean);
    mix.test_rate += test_ms * or_zero(y->bus_gbps.mean);
    mix.base_skew_us += count * or_zero(x->start_skew_us.mean);
    mix.test_skew_us += count * or_zero(y->start_skew_us.mean);
    const CollectiveSamples& left = samples_of(base, key);
    const CollectiveSamples& right = samples_of(test, key);
    mix.base_samples += left.latency_us.size();
    mix.test_samples += right.latency_us.size();
    latency.push_back({sample_stats(left.latency_us), sample_stats(right.latency_us), count / 1e3});
    skew.push_back({sample_stats(left.start_skew_us), sample_stats(right.start_skew_us), count});
  }
  if (mix.base_ms > 0)
    mix.base_rate /= mix.base_ms;
  if (mix.test_ms > 0)
    mix.test_rate /= mix.test_ms;
  if (count_sum > 0) {
    mix.base_skew_us /= count_sum;
    mix.test_skew_us /= count_sum;
  }
  if (const auto interval = welch95(latency))
    mix.half_ms = interval->half_width;
  if (const auto interval = welch95(skew); interval && count_sum > 0)
    mix.half_skew_us = interval->half_width / count_sum;
  return mix;
}

/// A figure of the mix and what its interval is a share of.
struct MixFigure {
  const char* metric;
  const char* unit;
  double Mix::*base;
  double Mix::*test;
  Better better;
  double Mix::*noise_scale;
  std::optional<double> Mix::*half_width;
};
// bandwidth moves as the inverse of latency, so that the latency's noise is taken for both
constexpr MixFigure kFigures[] = {{"NCCL_comm_latency", "ms", &Mix::base_ms, &Mix::test_ms,
                                   Better::kLower, &Mix::base_ms, &Mix::half_ms},
                                  {"NCCL_bus_bandwidth", "GB/s", &Mix::base_rate, &Mix::test_rate,
                                   Better::kHigher, &Mix::base_ms, &Mix::half_ms},
                                  {"NCCL_start_skew", "us", &Mix::base_skew_us, &Mix::test_skew_us,
                                   Better::kLower, &Mix::base_skew_us, &Mix::half_skew_us}};

DashboardCell cell_of(const Mix& mix, const MixFigure& figure, double threshold_percent) {
  std::optional<double> half;
  if (mix.*figure.half_width && mix.*figure.noise_scale > 0)
    half = *(mix.*figure.half_width) / mix.*figure.noise_scale * 100;
  const Judgement j =
      judge_within(mix.*figure.base, mix.*figure.test, half, threshold_percent, figure.better);
  DashboardCell cell;
  cell.value = mix.*figure.test;
  cell.improvement = improvement_percent(mix.*figure.base, mix.*figure.test, figure.better);
  cell.low = j.low;
  cell.high = j.high;
  cell.verdict = j.verdict;
  if (j.low) {
    cell.samples_base = mix.base_samples;
    cell.samples_test = mix.test_samples;
  }
  return cell;
}

} // namespace

Dashboard dashboard_of(const Comparison& comparison) {
  Dashboard out;
  std::vector<const ComparedRun*> runs{&comparison.base};
  for (const ComparedRun& test : comparison.tests)
    runs.push_back(&test);
  for (const TimeKind kind : kinds_of(runs)) {
    DashboardRow row;
    row.metric = "GPU_" + std::string(time_kind_name(kind));
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
      const Judgement& j = found->judgement;
      row.base = found->ms.base;
      row.tests.push_back(DashboardCell{found->ms.test, found->ms.improvement(), j.low, j.high,
                                        j.verdict, j.samples_base, j.samples_test});
    }
    out.rows.push_back(std::move(row));
  }
  out.gpu_rows = out.rows.size();
  std::vector<Mix> mixes;
  for (const ComparedRun& test : comparison.tests)
    mixes.push_back(mix_of(comparison.base.collectives, test.collectives));
  if (std::none_of(mixes.begin(), mixes.end(), [](const Mix& m) { return m.any; }))
    return out;
  for (const MixFigure& figure : kFigures) {
    DashboardRow row;
    row.metric = figure.metric;
    row.unit = figure.unit;
    for (const Mix& mix : mixes) {
      if (!mix.any) {
        row.tests.emplace_back();
        continue;
      }
      row.base = mix.*figure.base;
      row.tests.push_back(cell_of(mix, figure, comparison.threshold_percent));
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

} // namespace rankscope
