#include "base/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

namespace rankscope {
namespace {

constexpr int kPermutations = 9999;
constexpr double kShareOfMiddles = 0.2;         ///< of `alpha`, for levels that end again
constexpr std::size_t kMostMiddles = 1U << 16U; ///< bounds the work of one permutation

/// A part of a series with another level: the values from `from` up to `to`, which is not in it.
struct Part {
  std::size_t from = 0;
  std::size_t to = 0;
  double size = 0; ///< absolute value of the statistic
};

/// Returns |sum - m mean| / sqrt(m (n - m) / n) for the sum of m of n values with mean 0.
double statistic(double sum, std::size_t m, std::size_t n) {
  return std::fabs(sum) /
         std::sqrt(static_cast<double>(m) * static_cast<double>(n - m) / static_cast<double>(n));
}

/// Returns the last part that differs most from the part before it. `sums`: sums of the first 0, 1,
/// ... values, whose mean is 0.
Part best_end(std::span<const double> sums) {
  const std::size_t n = sums.size() - 1;
  Part out;
  for (std::size_t k = kLeastSegment; k + kLeastSegment <= n; ++k)
    if (const double size = statistic(sums[k], k, n); size > out.size)
      out = {k, n, size};
  return out;
}

/// Returns the inner part that differs most from the values around it.
Part best_middle(std::span<const double> sums) {
  const std::size_t n = sums.size() - 1;
  const std::size_t longest = std::max<std::size_t>(64, kMostMiddles / n);
  Part out;
  for (std::size_t m = kLeastSegment; m <= longest && m + 2 * kLeastSegment <= n; ++m) {
    double most = 0;
    std::size_t from = 0;
    for (std::size_t k = kLeastSegment; k + m + kLeastSegment <= n; ++k)
      if (const double sum = std::fabs(sums[k + m] - sums[k]); sum > most) {
        most = sum;
        from = k;
      }
    if (const double size = statistic(most, m, n); size > out.size)
      out = {from, from + m, size};
  }
  return out;
}

struct Found {
  Part part;
  double p = 1;
};

/// Finds a part of the series with `best`, and tests it. Its positions count from the start of the
/// series.
template <class Best>
std::optional<Found> find_part(std::span<const double> series, double alpha, const Best& best) {
  if (series.size() < 2 * kLeastSegment)
    return std::nullopt;
  // subtract the mean: sums of large and nearly equal values would lose digits
  const double mean =
      std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
  std::vector<double> values;
  double scale = 0;
  for (const double v : series) {
    values.push_back(v - mean);
    scale = std::max(scale, std::fabs(v));
  }
  std::vector<double> sums(values.size() + 1);
  const auto find = [&] {
    std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
    return best(sums);
  };
  const Part found = find();
  if (!(found.size > 1e-12 * scale)) // all values are equal
    return std::nullopt;
  std::mt19937_64 random(values.size()); // NOLINT(*-msc51-cpp,*-msc32-c): equal input, equal answer
  int as_large = 0;
  const auto most = static_cast<int>(alpha * (kPermutations + 1)) - 1; // with more, p > alpha
  for (int i = 0; i < kPermutations && as_large <= most; ++i) {
    for (std::size_t k = values.size() - 1; k > 0; --k)
      std::swap(values[k], values[random() % (k + 1)]);
    as_large += find().size >= found.size * (1 - 1e-9) ? 1 : 0;
  }
  if (as_large > most)
    return std::nullopt;
  return Found{found, (1.0 + as_large) / (kPermutations + 1)};
}

/// Returns the change point of a segment; its index counts from the start of the segment.
std::optional<ChangePoint> find_one(std::span<const double> segment, double alpha) {
  if (const auto found = find_part(segment, alpha, best_end))
    return ChangePoint{found->part.from, found->p};
  return std::nullopt;
}

void segment(std::span<const double> values, std::size_t first, std::size_t last, double alpha,
             std::vector<ChangePoint>& out) {
  const auto part = values.subspan(first, last - first);
  auto found = find_part(part, alpha * (1 - kShareOfMiddles), best_end);
  if (!found)
    found = find_part(part, alpha * kShareOfMiddles, best_middle);
  if (!found)
    return;
  const std::size_t from = first + found->part.from;
  const std::size_t to = first + found->part.to;
  segment(values, first, from, alpha, out);
  out.push_back({from, found->p});
  segment(values, from, to, alpha, out);
  if (to == last)
    return;
  out.push_back({to, found->p});
  segment(values, to, last, alpha, out);
}

} // namespace

std::size_t least_values_for(double alpha) {
  alpha *= 1 - kShareOfMiddles;
  double orders = 1; // binomial coefficient n over n / 2: ways to choose the values of the first
                     // level
  std::size_t n = 1;
  while (2 / orders > alpha * (1 + 1e-9) && n < 1000) {
    ++n;
    const std::size_t less = n / 2;
    orders *= static_cast<double>(n) / static_cast<double>(n - less);
  }
  return n;
}

std::vector<ChangePoint> change_points(std::span<const double> values, double alpha) {
  std::vector<ChangePoint> found;
  segment(values, 0, values.size(), alpha, found);
  // A split was found in a segment that contained other levels too. Test it again between its final
  // neighbours. This test may also move the split to a better position.
  std::vector<ChangePoint> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t first = out.empty() ? 0 : out.back().at;
    const std::size_t last = i + 1 < found.size() ? found[i + 1].at : values.size();
    if (found.size() == 1) {
      out.push_back(found[i]);
    } else if (const auto again = find_one(values.subspan(first, last - first), alpha)) {
      out.push_back({first + again->at, again->p});
    }
  }
  return out;
}

} // namespace rankscope
