#include "analyses/job/counted_steps.h"

#include "base/number_text.h"

#include "analyses/job/path_rows.h"
#include "base/interval_set.h"
#include "base/units.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kFewestForBoundary = 8, kBoundary = 4, kFewestOthers = 3;
constexpr double kBoundaryShare = 0.5, kBoundaryDeviations = 5, kOfTheExcess = 0.9,
                 kOfTheWork = 0.9;

/// The longest wait of one rank in one collective.
struct LongestWait {
  std::int64_t wait_ns = 0, until_ns = 0;
  std::uint32_t rank = 0; ///< the rank that arrives last
};

std::vector<LongestWait> longest_waits(const JobRun& run) {
  std::vector<LongestWait> out(run.steps());
  for (const JobCollective& collective : run.collectives)
    for (const NodeId transfer : collective.transfers) {
      if (!run.in_steps(transfer))
        continue;
      const NodeId meeting = run.waited(transfer, NodeRole::kMeeting);
      const NodeId arrival = run.waited(transfer, NodeRole::kArrival);
      if (meeting == kNoNode || arrival == kNoNode)
        continue;
      const std::int64_t until = run.graph.start_ns(meeting);
      LongestWait& longest = out[run.step_of(transfer)];
      if (const std::int64_t wait = until - run.graph.start_ns(arrival); wait > longest.wait_ns)
        longest = {wait, until, run.rank_of[meeting]};
    }
  return out;
}

/// Returns the time between `from` and `to` in which the rank has no activity.
std::int64_t without_activity(const JobRun& run, std::uint32_t rank, std::int64_t from,
                              std::int64_t to) {
  std::vector<Interval> activities;
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.rank_of[n] == rank)
      activities.push_back({run.graph.start_ns(n), run.graph.end_ns(n)});
  return to - from - IntervalSet(std::move(activities)).covered(from, to);
}

/// Returns the spread of all values except one.
RobustSpread spread_of_others(std::vector<double> values, std::size_t but) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(but));
  return robust_spread(std::move(values));
}

/// Returns the steps that are long because a rank is late.
std::vector<BoundaryStep> late_starts(const JobRun& run, const std::vector<std::int64_t>& begins,
                                      const std::vector<double>& durations) {
  const std::size_t steps = durations.size();
  std::vector<BoundaryStep> out;
  if (steps < kFewestForBoundary)
    return out;
  const std::vector<LongestWait> waits = longest_waits(run);
  for (std::size_t k = 0; k < steps; ++k) {
    if (k >= kBoundary && k + kBoundary < steps)
      continue;
    const auto [median, deviation] = spread_of_others(durations, k);
    const double excess = durations[k] - median;
    if (excess <= std::max(kBoundaryShare * median, kBoundaryDeviations * deviation) ||
        static_cast<double>(waits[k].wait_ns) < kOfTheExcess * excess)
      continue;
    const std::int64_t idle = without_activity(run, waits[k].rank, begins[k], waits[k].until_ns);
    if (static_cast<double>(idle) >= kOfTheExcess * excess)
      out.push_back({k, run.step_numbers[k], run.ranks[waits[k].rank].rank, excess / 1e6,
                     ns_to_ms(waits[k].wait_ns)});
  }
  return out;
}

/// Returns the first and the last step, if they have less GPU work than the others.
std::vector<BoundaryStep> incomplete_steps(const JobRun& run,
                                           const std::vector<double>& durations) {
  const std::size_t steps = durations.size();
  std::vector<BoundaryStep> out;
  if (steps <= kFewestOthers)
    return out;
  std::vector<std::vector<std::size_t>> activities(run.ranks.size(),
                                                   std::vector<std::size_t>(steps));
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.in_steps(n) && run.is_activity(n) && run.gpu_work[n])
      ++activities[run.rank_of[n]][run.step_of(n)];
  const std::size_t at_end = steps > kFewestOthers + 1 ? 1 : 0; // not compared at the other end
  for (const bool last : {false, true}) {
    const std::size_t step = last ? steps - 1 : 0;
    const double excess = durations[step] - spread_of_others(durations, step).median;
    if (excess >= 0)
      continue;
    BoundaryStep found{step, run.step_numbers[step], 0, excess / 1e6};
    double least = kOfTheWork;
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      const auto others = std::span(activities[r]).subspan(last ? at_end : 1, steps - 1 - at_end);
      const std::size_t fewest = *std::ranges::min_element(others);
      const auto share = static_cast<double>(activities[r][step]) /
                         static_cast<double>(std::max<std::size_t>(1, fewest));
      if (fewest == 0 || share >= least)
        continue;
      least = share;
      found.rank = run.ranks[r].rank;
      found.activities = activities[r][step];
      found.other_activities = fewest;
    }
    if (found.incomplete())
      out.push_back(found);
  }
  return out;
}

/// Returns the boundary steps, ascending.
std::vector<BoundaryStep> boundary_steps(const JobRun& run, const std::vector<std::int64_t>& ends) {
  std::vector<std::int64_t> begins(1, ends.front());
  for (NodeId n = 0; n < run.graph.size(); ++n)
    begins.front() = std::min(begins.front(), run.graph.start_ns(n));
  begins.insert(begins.end(), ends.begin(), ends.end() - 1);
  std::vector<double> durations;
  for (std::size_t k = 0; k < run.steps(); ++k)
    durations.push_back(static_cast<double>(ends[k] - begins[k]));
  std::vector<BoundaryStep> out = late_starts(run, begins, durations);
  std::ranges::move(incomplete_steps(run, durations), std::back_inserter(out));
  std::ranges::sort(out, {}, &BoundaryStep::step);
  return out;
}

/// Returns the first counted step. The first of several steps begins without the work that a
/// previous step leaves, unless steps were recorded one by one.
std::size_t first_counted_step(const JobRun& run) {
  return run.steps() > 1 && run.step_begin_ns.empty() ? 1 : 0;
}

} // namespace

Result<StepPositions> step_positions(const JobRun& run, std::int64_t first, std::int64_t last) {
  const std::size_t begin = first_counted_step(run);
  StepPositions out{run.steps(), 0};
  for (std::size_t k = begin; k < run.step_numbers.size(); ++k)
    if (run.step_numbers[k] >= first && run.step_numbers[k] <= last) {
      out.first = std::min(out.first, k);
      out.last = k;
    }
  if (out.first > out.last) {
    const std::vector<std::int64_t> known(
        run.step_numbers.begin() + static_cast<std::ptrdiff_t>(begin), run.step_numbers.end());
    return Error{ErrorCode::kUsage, "--only-steps",
                 "the run has no such complete step after the first one",
                 "steps: " + (known.empty() ? std::string("none") : ranges_text(known))};
  }
  return out;
}

CountedSteps::CountedSteps(const JobRun& run, const std::vector<PathPiece>& path,
                           const std::vector<std::int64_t>& ends)
    : end_(run.steps()), begins_(run.step_begin_ns) {
  if (!begins_.empty())
    return;
  if (ends.back() > ends.front())
    first_ = first_counted_step(run);
  boundary_ = boundary_steps(run, ends);
  for (const BoundaryStep& boundary : boundary_) {
    if (2 * boundary.step < run.steps())
      first_ = std::max(first_, boundary.step + 1);
    else if (boundary.step >= first_ + 2)
      end_ = std::min(end_, boundary.step);
  }
  std::erase_if(boundary_, [this](const BoundaryStep& boundary) { return counts(boundary.step); });
  for (const RankGraph& rank : run.ranks)
    single_begin_ = std::max(single_begin_, rank.early_until_ns);
  if (!path.empty() && path.front().first)
    single_begin_ = std::max(single_begin_, path.front().end_ns);
}

double CountedSteps::per_step_ms(std::int64_t ns) const {
  return ns_to_ms(ns) / static_cast<double>(counted());
}

std::int64_t CountedSteps::begin_ns(const std::vector<std::int64_t>& ends) const {
  if (!begins_.empty())
    return begins_[first_];
  return first_ > 0 ? ends[first_ - 1] : single_begin_;
}

std::vector<PathPiece> CountedSteps::part_of(const std::vector<PathPiece>& path,
                                             const std::vector<std::int64_t>& ends) const {
  return path_between(path, begin_ns(ends), ends[end_ - 1]);
}

double CountedSteps::mean_ms(const std::vector<std::int64_t>& ends) const {
  if (begins_.empty())
    return per_step_ms(ends[end_ - 1] - begin_ns(ends));
  std::int64_t sum = 0;
  for (std::size_t k = first_; k < end_; ++k)
    sum += ends[k] - begins_[k];
  return per_step_ms(sum);
}

std::vector<double> CountedSteps::each_ms(const std::vector<std::int64_t>& ends) const {
  std::vector<double> out;
  for (std::size_t k = first_; k < end_; ++k)
    out.push_back(ns_to_ms(ends[k] - (!begins_.empty() ? begins_[k]
                                      : k == 0         ? single_begin_
                                                       : ends[k - 1])));
  return out;
}

std::optional<MeanDifference> CountedSteps::difference_ms(const std::vector<std::int64_t>& more,
                                                          const std::vector<std::int64_t>& less,
                                                          double alpha) const {
  std::vector<double> out = each_ms(more);
  const std::vector<double> other = each_ms(less);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] -= other[k];
  return mean_interval(out, alpha);
}

} // namespace rankscope
