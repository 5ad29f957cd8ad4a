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

struct Split {
  std::size_t at = 0;
  double size = 0; ///< absolute value of the statistic
};

Split best_split(std::span<const double> values) {
  Split out;
  const auto n = static_cast<double>(values.size());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double head = 0;
  for (std::size_t i = 0; i + kLeastSegment < values.size(); ++i) {
    head += values[i];
    const auto k = static_cast<double>(i + 1);
    if (i + 1 < kLeastSegment)
      continue;
    const double size = std::fabs(head - k * sum / n) / std::sqrt(k * (n - k) / n);
    if (size > out.size)
      out = {i + 1, size};
  }
  return out;
}

/// Returns the change point of a segment; its index counts from the start of the segment.
std::optional<ChangePoint> find_one(std::span<const double> segment, double alpha) {
  if (segment.size() < std::max(least_values_for(alpha), 2 * kLeastSegment))
    return std::nullopt;
  // subtract the mean: sums of large and nearly equal values would lose digits
  const double mean =
      std::accumulate(segment.begin(), segment.end(), 0.0) / static_cast<double>(segment.size());
  std::vector<double> values;
  double scale = 0;
  for (const double v : segment) {
    values.push_back(v - mean);
    scale = std::max(scale, std::fabs(v));
  }
  const Split found = best_split(values);
  if (!(found.size > 1e-12 * scale)) // all values are equal
    return std::nullopt;
  std::mt19937_64 random(values.size()); // NOLINT(*-msc51-cpp,*-msc32-c): equal input, equal answer
  int as_large = 0;
  const auto most = static_cast<int>(alpha * (kPermutations + 1)) - 1; // with more, p > alpha
  for (int i = 0; i < kPermutations && as_large <= most; ++i) {
    for (std::size_t k = values.size() - 1; k > 0; --k)
      std::swap(values[k], values[random() % (k + 1)]);
    as_large += best_split(values).size >= found.size * (1 - 1e-9) ? 1 : 0;
  }
  if (as_large > most)
    return std::nullopt;
  return ChangePoint{found.at, (1.0 + as_large) / (kPermutations + 1)};
}

void segment(std::span<const double> values, std::size_t first, std::size_t last, double alpha,
             std::vector<ChangePoint>& out) {
  const auto found = find_one(values.subspan(first, last - first), alpha);
  if (!found)
    return;
  const std::size_t at = first + found->at;
  segment(values, first, at, alpha, out);
  out.push_back({at, found->p});
  segment(values, at, last, alpha, out);
}

} // namespace

std::size_t least_values_for(double alpha) {
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
