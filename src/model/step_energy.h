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
  std::optional<double> energy_j = std::nullopt; ///< of the GPU's energy counter
};
/// A step (or any span) on the same clock.
struct TimeSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// Energy of a span of time and how far it can be trusted.
struct SpanEnergy {
  double joules = 0;
  double low = 0, high = 0;    ///< lower and upper sum over the samples; where counted: joules
  std::int64_t ns = 0;         ///< of the span, between samples
  std::int64_t counted_ns = 0; ///< of those, by the energy counter
};

/// Whether power changes so much from one sample to the next that the integral over the samples is
/// not a measurement: the lower and the upper sum are more than 5 % away from `joules`.
[[nodiscard]] bool is_aliased(double joules, double low, double high);

/// The energy as a function of time. Power is linear between samples; where the samples have an
/// energy counter, it is scaled so that the energy between two changes of the counter is what the
/// counter says: the counter gives the energy, the samples give its shape. A counter that decreases
/// was reset; the interval in which it did keeps the integral of the samples, as do those before
/// the first and after the last change of a counter that changes less often than it is read.
class EnergyCurve {
public:
  /// `samples` ascending in time. Samples further apart than the gap have no energy between them.
  EnergyCurve(std::span<const PowerSample> samples, std::int64_t longest_gap_ns);

  /// What is covered of `span`. O(log samples).
  [[nodiscard]] SpanEnergy of(const TimeSpan& span) const;

private:
  struct Interval {
    std::int64_t begin_ns = 0, end_ns = 0;
    double begin_w = 0, end_w = 0;
    bool counted = false;
    bool is_gap = false;
  };
  static SpanEnergy part_of(const Interval& i, std::int64_t from, std::int64_t to);
  void scale(std::size_t first, std::size_t last, double joules);
  [[nodiscard]] std::size_t interval_at(std::int64_t t) const;
  [[nodiscard]] SpanEnergy until(std::int64_t t) const;

  std::vector<Interval> intervals_;
  std::vector<SpanEnergy> sums_; ///< before each interval
};

/// The energy of each span; none where the span is not between the first and the last sample, or
/// reaches into two samples that are further apart than `longest_gap_ns`.
/// Example: 100 W at 0 s, 200 W at 1 s: from 0.5 s to 1 s it is 0.5 * (150 + 200) / 2 = 87.5 J;
/// with a counter that counts 300 J in that second it is 87.5 * 300 / 150 = 175 J.
[[nodiscard]] std::vector<std::optional<SpanEnergy>>
span_energy(std::span<const PowerSample> samples, std::span<const TimeSpan> spans,
            std::int64_t longest_gap_ns);

} // namespace rankscope
