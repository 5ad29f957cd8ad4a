#include "analyses/job/micro_batches.h"

#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

/// Limit of a coefficient, so that Fisher's z is finite.
constexpr double kMostCoefficient = 1 - 1e-12;

/// Sums over pairs of deviations from their means.
struct PairSums {
  double xx = 0, yy = 0, xy = 0;
  std::size_t pairs = 0;

  void add(const PairSums& more) {
    xx += more.xx;
    yy += more.yy;
    xy += more.xy;
    pairs += more.pairs;
  }
  /// Returns Pearson's coefficient; empty if x or y does not vary.
  [[nodiscard]] std::optional<double> coefficient() const {
    if (!(xx > 0) || !(yy > 0))
      return std::nullopt;
    return std::clamp(xy / std::sqrt(xx * yy), -kMostCoefficient, kMostCoefficient);
  }
};

/// The durations of a micro-batch on a rank in ms. If a direction has several computations, they
/// are added.
struct MicroBatch {
  double forward_ms = 0, backward_ms = 0;
  bool has_forward = false, has_backward = false;
};

PairSums pair_sums(const std::vector<MicroBatch>& batches) {
  const auto n = static_cast<double>(batches.size());
  double forward = 0, backward = 0;
  for (const MicroBatch& b : batches) {
    forward += b.forward_ms / n;
    backward += b.backward_ms / n;
  }
  PairSums out;
  if (batches.size() < 2)
    return out;
  for (const MicroBatch& b : batches) {
    const double x = b.forward_ms - forward, y = b.backward_ms - backward;
    out.add({x * x, y * y, x * y, 1});
  }
  return out;
}

/// Returns the sums of each counted step that has pairs.
std::vector<PairSums> sums_by_step(const JobRun& run, const WorkerGrid& grid,
                                   const CountedSteps& clock) {
  using Cell = std::tuple<std::size_t, std::uint32_t, std::int64_t>; // step, rank, chunk
  std::map<Cell, std::map<std::int64_t, MicroBatch>> cells;
  for (const StageComputation& c : grid.computations) {
    const std::size_t step = run.step_of(c.node);
    if (c.micro_batch < 0 || !clock.counts(step))
      continue;
    MicroBatch& batch = cells[{step, run.rank_of[c.node], c.chunk}][c.micro_batch];
    const double ms = ns_to_ms(run.graph.dur_ns(c.node));
    (c.forward ? batch.forward_ms : batch.backward_ms) += ms;
    (c.forward ? batch.has_forward : batch.has_backward) = true;
  }
  std::map<std::size_t, PairSums> steps;
  for (const auto& [cell, batches] : cells) {
    std::vector<MicroBatch> pairs;
    for (const auto& [number, batch] : batches)
      if (batch.has_forward && batch.has_backward)
        pairs.push_back(batch);
    if (const PairSums sums = pair_sums(pairs); sums.pairs > 0)
      steps[std::get<0>(cell)].add(sums);
  }
  std::vector<PairSums> out;
  for (const auto& [step, sums] : steps)
    out.push_back(sums);
  return out;
}

PairSums sum_without(const std::vector<PairSums>& steps, std::size_t left_out) {
  PairSums out;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (k != left_out)
      out.add(steps[k]);
  return out;
}

/// Returns half the width of the 95 % interval of Fisher's z by the jackknife over steps.
/// O(steps^2)
std::optional<double> half_width_of_z(const std::vector<PairSums>& steps, double z) {
  const auto n = static_cast<double>(steps.size());
  std::vector<double> pseudo_values;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::optional<double> others = sum_without(steps, k).coefficient();
    if (!others)
      return std::nullopt;
    pseudo_values.push_back(n * z - (n - 1) * std::atanh(*others));
  }
  const std::optional<MeanDifference> interval = mean_interval(pseudo_values, 0.05);
  return interval ? std::optional(interval->half_width) : std::nullopt;
}

using ComputationGroup = std::tuple<std::int64_t, std::int64_t, bool>; // stage, chunk, forward

/// The computations of one rank in a group.
struct RankSums {
  std::vector<NodeId> nodes;
  double sum_ns = 0, squares = 0; ///< squares: sum of squared deviations from the rank's mean

  [[nodiscard]] double mean_ns() const { return sum_ns / static_cast<double>(nodes.size()); }
};
using RanksOfGroup = std::map<std::uint32_t, RankSums>;

std::map<ComputationGroup, RanksOfGroup>
computation_groups(const JobRun& run, const WorkerGrid& grid, const JobEdit& edit) {
  std::map<ComputationGroup, RanksOfGroup> out;
  for (const StageComputation& c : grid.computations) {
    const std::uint32_t r = run.rank_of[c.node];
    RankSums& rank = out[{grid.stage[r], c.chunk, c.forward}][r];
    rank.nodes.push_back(c.node);
    rank.sum_ns += static_cast<double>(edit.dur_ns[c.node]);
  }
  for (auto& [group, ranks] : out)
    for (auto& [r, rank] : ranks)
      for (const NodeId n : rank.nodes)
        rank.squares += std::pow(static_cast<double>(edit.dur_ns[n]) - rank.mean_ns(), 2);
  return out;
}

/// Returns the mean of the group, and the part of the differences between ranks that is not due to
/// chance: max(0, 1 - w/b) (equalize_micro_batches()).
std::pair<double, double> mean_and_persistent(const RanksOfGroup& ranks) {
  double n = 0, sum = 0, within = 0, between = 0;
  for (const auto& [r, rank] : ranks) {
    n += static_cast<double>(rank.nodes.size());
    sum += rank.sum_ns;
    within += rank.squares;
  }
  const double mean = sum / n, count = static_cast<double>(ranks.size());
  for (const auto& [r, rank] : ranks)
    between += static_cast<double>(rank.nodes.size()) * std::pow(rank.mean_ns() - mean, 2);
  if (between <= 0)
    return {mean, 0};
  if (n <= count) // one computation per rank: chance is unknown
    return {mean, 1};
  return {mean, std::max(0.0, 1 - (within / (n - count)) / (between / (count - 1)))};
}

} // namespace

std::optional<MicroBatchCorrelation>
micro_batch_correlation(const JobRun& run, const WorkerGrid& grid, const CountedSteps& clock) {
  const std::vector<PairSums> steps = sums_by_step(run, grid, clock);
  const PairSums all = sum_without(steps, steps.size());
  const std::optional<double> coefficient = all.coefficient();
  if (!coefficient)
    return std::nullopt;
  MicroBatchCorrelation out;
  out.coefficient = *coefficient;
  out.pairs = all.pairs;
  const double z = std::atanh(*coefficient);
  if (const std::optional<double> half = half_width_of_z(steps, z)) {
    out.low = std::tanh(z - *half);
    out.high = std::tanh(z + *half);
  }
  return out;
}

void equalize_micro_batches(const JobRun& run, const WorkerGrid& grid, JobEdit& edit) {
  for (const auto& [group, ranks] : computation_groups(run, grid, edit)) {
    const auto [mean, persistent] = mean_and_persistent(ranks);
    for (const auto& [r, rank] : ranks)
      for (const NodeId n : rank.nodes)
        edit.dur_ns[n] = std::llround(mean + persistent * (rank.mean_ns() - mean));
  }
}

void balance_stages(const JobRun& run, const WorkerGrid& grid, JobEdit& edit) {
  struct Sum {
    double ns = 0, count = 0;
    [[nodiscard]] double mean() const { return ns / count; }
  };
  std::map<bool, Sum> all; // by forward
  std::map<std::pair<std::int64_t, bool>, Sum> stages;
  for (const StageComputation& c : grid.computations)
    for (Sum* const sum :
         {&all[c.forward], &stages[{grid.stage[run.rank_of[c.node]], c.forward}]}) {
      sum->ns += static_cast<double>(edit.dur_ns[c.node]);
      sum->count += 1;
    }
  for (const StageComputation& c : grid.computations) {
    const double stage = stages.at({grid.stage[run.rank_of[c.node]], c.forward}).mean();
    if (stage > 0)
      edit.dur_ns[c.node] =
          std::llround(static_cast<double>(edit.dur_ns[c.node]) * all.at(c.forward).mean() / stage);
  }
}

} // namespace rankscope
