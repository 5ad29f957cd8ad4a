// Energy of steps: combines power samples with the steps of a trace, on the clock of the samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// The power of one GPU at a Unix time.
struct PowerSample {
  std::int64_t unix_ns = 0;
  double watts = 0;
  std::optional<double> energy_j = std::nullopt; ///< value of the GPU's energy counter
};
/// A step (or any interval) on the clock of the samples.
struct TimeSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// The energy of a time interval, with its uncertainty.
struct SpanEnergy {
  double joules = 0;
  double low = 0, high = 0;    ///< lower and upper sum over the samples; equal to `joules` if the
                               ///< energy was counted
  std::int64_t ns = 0;         ///< length of the part of the span that is between samples
  std::int64_t counted_ns = 0; ///< length of the part of `ns` for which the energy counter was used
};

/// Returns whether the power changes so much between samples that the integral of the samples is
/// not a measurement: the lower or the upper sum differs by more than 5 % from `joules`.
[[nodiscard]] bool is_aliased(double joules, double low, double high);

/// The energy as a function of time. Power is linear between samples. If the samples contain an
/// energy counter, power is scaled such that the energy between two changes of the counter is equal
/// to the counter's difference. If the counter decreases, it was reset. In three kinds of
/// intervals, power is not scaled: the interval of a reset and, if the counter changes less often
/// than it is read, the time before its first and after its last change.
class EnergyCurve {
public:
  /// `samples` must be in ascending order of time. Between two samples with a distance of more than
  /// `longest_gap_ns`, the energy is unknown.
  EnergyCurve(std::span<const PowerSample> samples, std::int64_t longest_gap_ns);

  /// Returns the energy of the covered part of `span`. O(log samples).
  [[nodiscard]] SpanEnergy energy(const TimeSpan& span) const;

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
  std::vector<SpanEnergy> sums_; ///< sum of the energies before each interval
};

/// Returns the energy of each span. Empty for a span that is not between the first and the last
/// sample, or that overlaps a gap of more than `longest_gap_ns` between two samples. Example: 100 W
/// at 0 s, 200 W at 1 s: from 0.5 s to 1 s the energy is 0.5 * (150 + 200) / 2 = 87.5 J. If the
/// counter increases by 300 J in that second, it is 87.5 * 300 / 150 = 175 J.
[[nodiscard]] std::vector<std::optional<SpanEnergy>>
span_energy(std::span<const PowerSample> samples, std::span<const TimeSpan> spans,
            std::int64_t longest_gap_ns);

} // namespace rankscope
