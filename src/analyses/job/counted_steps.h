// The steps of a run that count, and their times.
#pragma once

#include "analyses/job/job_run.h"
#include "base/result.h"
#include "base/statistics.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// A step near the begin or the end of the recording that does not count, for one of two reasons.
///
/// It is long because all ranks wait for one rank without activity, on which the profiler started
/// later. Only runs with eight or more steps have such steps, among the first four and the last
/// four. The step exceeds the median of the others by half of that median and by five robust
/// standard deviations. The longest wait in one collective and the awaited rank's time without
/// activity both reach 90 % of the excess.
///
/// Or it is the first or the last step, and the recording begins or ends within it: some rank has
/// less than 90 % of the GPU activities that it has in any other step, and the step is shorter than
/// the median of the others. At least three other steps are compared. The step at the other end may
/// be incomplete too; it is compared only if there are no more than three.
struct BoundaryStep {
  std::size_t step = 0;    ///< position in JobRun::step_numbers
  std::int64_t number = 0; ///< number of the step
  std::int64_t rank = 0;   ///< the rank that the others wait for, or that has less GPU work
  double excess_ms = 0;    ///< beyond the median of the other steps
  double wait_ms = 0;      ///< wait in one collective, of the rank that waits longest
  /// GPU activities of the rank, and the fewest that it has in another step. 0: a rank is late.
  std::size_t activities = 0, other_activities = 0;

  [[nodiscard]] bool incomplete() const { return other_activities > 0; }
};

/// Positions of steps in JobRun::step_numbers.
struct StepPositions {
  std::size_t first = 0, last = 0; ///< inclusive
};
/// Returns the positions of the steps numbered `first` to `last`, both included. Errors: kUsage if
/// the run has no such complete step. The first of several steps counts as incomplete
/// (CountedSteps).
[[nodiscard]] Result<StepPositions> step_positions(const JobRun& run, std::int64_t first,
                                                   std::int64_t last);

/// The times of the steps that count, from step_ends(). The first of several steps does not count,
/// because it begins without the work that a previous step leaves. A BoundaryStep does not count,
/// nor do the steps before one at the begin or after one at the end. A single step begins after the
/// work that was queued before it. It begins on the rank whose activities are critical, which may
/// begin later than others.
class CountedSteps {
public:
  /// `path`, `ends`: critical_path() and step_ends() of the measured run.
  CountedSteps(const JobRun& run, const std::vector<PathPiece>& path,
               const std::vector<std::int64_t>& ends);

  /// Counts only these steps, and all of them.
  void only(StepPositions steps) {
    first_ = steps.first;
    end_ = steps.last + 1;
    boundary_.clear();
  }

  [[nodiscard]] bool counts(std::size_t step) const { return step >= first_ && step < end_; }
  [[nodiscard]] std::size_t counted() const { return end_ - first_; }
  [[nodiscard]] std::size_t first() const { return first_; } ///< first counted step
  [[nodiscard]] double per_step_ms(std::int64_t ns) const;
  /// Returns the part of `path` in the counted steps. `ends`: the step ends of the same run.
  [[nodiscard]] std::vector<PathPiece> part_of(const std::vector<PathPiece>& path,
                                               const std::vector<std::int64_t>& ends) const;
  [[nodiscard]] double mean_ms(const std::vector<std::int64_t>& ends) const;
  /// Returns the time of each counted step.
  [[nodiscard]] std::vector<double> each_ms(const std::vector<std::int64_t>& ends) const;
  /// Returns mean_interval() of the difference of each counted step: its time in `more` minus its
  /// time in `less`. Empty with fewer than two counted steps.
  [[nodiscard]] std::optional<MeanDifference> difference_ms(const std::vector<std::int64_t>& more,
                                                            const std::vector<std::int64_t>& less,
                                                            double alpha = 0.05) const;
  /// Returns the boundary steps that are left out.
  [[nodiscard]] const std::vector<BoundaryStep>& boundary() const { return boundary_; }

private:
  [[nodiscard]] std::int64_t begin_ns(const std::vector<std::int64_t>& ends) const;

  std::size_t first_ = 0, end_;
  std::int64_t single_begin_ = 0;
  std::vector<std::int64_t> begins_; ///< JobRun::step_begin_ns
  std::vector<BoundaryStep> boundary_;
};

} // namespace rankscope
