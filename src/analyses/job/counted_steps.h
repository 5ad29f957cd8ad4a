// The steps of a run whose time counts.
#pragma once

#include "analyses/job/job_run.h"
#include "base/result.h"
#include "base/statistics.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// A step near the begin or the end of the recording that is long because all ranks wait for one
/// that has no activity meanwhile: its profiler started later. With eight steps and more: one of
/// the first and the last four that exceeds the median of the others by half of it and by five
/// robust standard deviations, where 90 % of the excess is waiting in one collective and a time
/// without activity of the rank that it waits for.
struct BoundaryStep {
  std::size_t step = 0;    ///< position in JobRun::step_numbers
  std::int64_t number = 0; ///< of the step
  std::int64_t rank = 0;   ///< that the others wait for
  double excess_ms = 0;    ///< beyond the median of the other steps
  double wait_ms = 0;      ///< in one collective, of the rank that waits longest
};

/// Positions of steps in JobRun::step_numbers.
struct StepPositions {
  std::size_t first = 0, last = 0; ///< inclusive
};
/// Returns the positions of the steps with these numbers, both included. Errors: kUsage when the
/// run has no such complete step; the first of several is not complete (CountedSteps).
[[nodiscard]] Result<StepPositions> step_positions(const JobRun& run, std::int64_t first,
                                                   std::int64_t last);

/// The time of steps, from step_ends(). The first of several is not counted: it begins without what
/// the step before leaves behind; nor is a BoundaryStep, nor what is before or after them. A
/// single one begins after the work that was queued before it, and on the rank whose activities are
/// critical, which may begin later than others.
class CountedSteps {
public:
  /// `path`, `ends`: critical_path() and step_ends() of the run as measured.
  CountedSteps(const JobRun& run, const std::vector<PathPiece>& path,
               const std::vector<std::int64_t>& ends);

  /// Counts these steps alone.
  void only(StepPositions steps) {
    first_ = steps.first;
    end_ = steps.last + 1;
  }

  [[nodiscard]] bool counts(std::size_t step) const { return step >= first_ && step < end_; }
  [[nodiscard]] std::size_t counted() const { return end_ - first_; }
  [[nodiscard]] std::size_t first() const { return first_; } ///< that counts
  [[nodiscard]] double per_step_ms(std::int64_t ns) const;
  /// Of a path as long as a run with these ends: the part in the counted steps.
  [[nodiscard]] std::vector<PathPiece> part_of(const std::vector<PathPiece>& path,
                                               const std::vector<std::int64_t>& ends) const;
  [[nodiscard]] double mean_ms(const std::vector<std::int64_t>& ends) const;
  /// Of each counted step.
  [[nodiscard]] std::vector<double> each_ms(const std::vector<std::int64_t>& ends) const;
  /// How much longer the counted steps of `more` take than those of `less`, step by step:
  /// mean_interval(). Empty with fewer than two counted steps.
  [[nodiscard]] std::optional<MeanDifference> difference_ms(const std::vector<std::int64_t>& more,
                                                            const std::vector<std::int64_t>& less,
                                                            double alpha = 0.05) const;
  /// Those that are left out.
  [[nodiscard]] const std::vector<BoundaryStep>& boundary() const { return boundary_; }

private:
  [[nodiscard]] std::int64_t begin_ns(const std::vector<std::int64_t>& ends) const;

  std::size_t first_ = 0, end_;
  std::int64_t single_begin_ = 0;
  std::vector<std::int64_t> begins_; ///< JobRun::step_begin_ns
  std::vector<BoundaryStep> boundary_;
};

} // namespace rankscope
