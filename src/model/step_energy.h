// Energy of steps: samples of power and the steps of a trace joined by their clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// Power of one GPU at a moment of Unix time.
struct PowerSample {
  std::int64_t unix_ns = 0;
  double watts = 0;
};
/// A step (or any span) on the same clock.
struct TimeSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// Joules of each span: the integral of the power, linear between samples, which are ascending in
/// time. None where the span is not between the first and the last sample, or reaches into two
/// samples that are further apart than `longest_gap_ns`. O(log samples + samples within) each.
/// Example: 100 W at 0 s, 200 W at 1 s: from 0.5 s to 1 s it is 0.5 * (150 + 200) / 2 = 87.5 J.
[[nodiscard]] std::vector<std::optional<double>> span_energy(std::span<const PowerSample> samples,
                                                             std::span<const TimeSpan> spans,
                                                             std::int64_t longest_gap_ns);

/// The integral of the power as a function of time, for many spans: the first sample's time is 0 J.
/// What lies between samples further apart than the gap, before the first or after the last has no
/// energy and is not covered. O(log samples) a question.
class EnergyCurve {
public:
  /// `samples` ascending in time; they must outlive this.
  EnergyCurve(std::span<const PowerSample> samples, std::int64_t longest_gap_ns);

  struct Covered {
    double joules = 0;
    std::int64_t ns = 0; ///< of the span, between samples
  };
  [[nodiscard]] Covered of(const TimeSpan& span) const;

private:
  [[nodiscard]] Covered until(std::int64_t t) const;

  std::span<const PowerSample> samples_;
  std::int64_t longest_gap_ns_;
  std::vector<Covered> sums_; ///< at each sample
};

} // namespace rankscope
