#include "analyses/graph/kernel_sequence.h"

#include "model/kernel_family.h"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::size_t kLongestPeriod = 4096;

/// The columns that are searched in each row of the table: all columns, or a band around the
/// diagonal.
class Band {
public:
  Band(std::size_t rows, std::size_t columns, std::size_t max_cells)
      : rows_(rows), columns_(columns), half_(rows > 0 && columns > 0 && max_cells / rows < columns
                                                  ? std::max<std::size_t>(max_cells / rows / 2, 64)
                                                  : columns) {}
  [[nodiscard]] std::size_t width() const { return std::min(columns_, 2 * half_ + 1); }
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    if (half_ >= columns_)
      return 0;
    const std::size_t middle = row * columns_ / rows_;
    const std::size_t first = middle > half_ ? middle - half_ : 0;
    return std::min(first, columns_ - width());
  }

private:
  std::size_t rows_, columns_, half_;
};

/// The step that led to the best weight of a cell.
enum Step : std::uint8_t { kPair, kSkipA, kSkipB };
constexpr std::uint8_t kAfterPair = 4; ///< the two kernels before this pair are a pair too
constexpr std::int64_t kImpossible = INT64_MIN / 4;
constexpr std::int64_t kNeighbours = 2;

/// One row: the best weight up to each column, and the best weight that ends in a pair at that
/// column.
struct KernelSequenceRow {
  std::vector<std::int64_t> best, paired;
  std::size_t begin = 0;
  KernelSequenceRow(std::size_t width) : best(width, 0), paired(width, kImpossible) {}
  /// Returns the best weight of columns [0, column): 0 left of the band, the band's last value
  /// right of it.
  [[nodiscard]] std::int64_t best_before(std::size_t column) const {
    if (column <= begin)
      return 0;
    return best[std::min(column - begin, best.size()) - 1];
  }
  [[nodiscard]] std::int64_t paired_before(std::size_t column) const {
    return column <= begin || column - begin > best.size() ? kImpossible
                                                           : paired[column - begin - 1];
  }
};

std::vector<std::uint32_t> trace_back(const std::vector<std::uint8_t>& steps, const Band& band,
                                      std::size_t rows, std::size_t columns) {
  std::vector<std::uint32_t> out(rows, kNoPartner);
  std::size_t i = rows;
  std::size_t j = columns;
  bool pair_asked = false;
  while (i > 0 && j > 0) {
    const std::size_t begin = band.begin(i - 1);
    if (j <= begin) {
      --i; // left of the band: no pairs there
      continue;
    }
    j = std::min(j, begin + band.width());
    const std::uint8_t step = steps[(i - 1) * band.width() + (j - 1 - begin)];
    if (pair_asked || (step & 3U) == kPair) {
      out[i - 1] = static_cast<std::uint32_t>(j - 1);
      pair_asked = (step & kAfterPair) != 0;
      --i;
      --j;
    } else if ((step & 3U) == kSkipA) {
      --i;
    } else {
      --j;
    }
  }
  return out;
}

} // namespace

std::uint32_t KernelSymbols::number(const std::string& text) {
  return numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

KernelToken KernelSymbols::token(std::string_view name) {
  const auto [it, fresh] = names_.try_emplace(std::string(name));
  if (fresh)
    it->second = {number("name " + it->first),
                  number("stem " + kernel_stem(name)),
                  number("kind " + kernel_kind(name)),
                  0,
                  finishes_another(name),
                  kernel_family(name) == KernelFamily::kAttention};
  return it->second;
}

KernelToken KernelSymbols::token(const Trace& trace, EventId gpu) {
  KernelToken out = token(trace.name(gpu));
  if (const GpuArgs* args = trace.gpu_arg(gpu))
    out.shape = shape(trace, args->grid, args->block);
  return out;
}

KernelToken KernelSymbols::token(const Trace& trace, const LaunchArgs& launch) {
  KernelToken out = token(trace.strings.view(launch.kernel));
  out.shape = shape(trace, launch.grid, launch.block);
  return out;
}

std::uint32_t KernelSymbols::shape(const Trace& trace, StrId grid, StrId block) {
  if (grid == kEmptyStr && block == kEmptyStr)
    return 0;
  return number("shape " + std::string(trace.strings.view(grid)) + " " +
                std::string(trace.strings.view(block)));
}

std::vector<KernelToken> KernelSymbols::tokens(const Trace& trace, std::span<const EventId> gpu) {
  std::vector<KernelToken> out;
  out.reserve(gpu.size());
  for (const EventId e : gpu)
    out.push_back(token(trace, e));
  return out;
}

std::int64_t pair_weight(const KernelToken& a, const KernelToken& b) {
  switch (kernel_match(a, b)) {
  case KernelMatch::kShape:
    return 16;
  case KernelMatch::kName:
    return 12;
  case KernelMatch::kStem:
    return 10;
  case KernelMatch::kKind:
    return 8;
  case KernelMatch::kNone:
    break;
  }
  return 0;
}

KernelAlignment align_kernels(std::span<const KernelToken> a, std::span<const KernelToken> b,
                              std::size_t max_cells) {
  const Band band(a.size(), b.size(), max_cells);
  const std::size_t width = band.width();
  std::vector<std::uint8_t> steps(a.size() * width);
  KernelSequenceRow above(width);
  KernelSequenceRow row(width);
  for (std::size_t i = 0; i < a.size(); ++i) {
    row.begin = band.begin(i);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t j = row.begin + c;
      const std::int64_t skip_a = above.best_before(j + 1);
      const std::int64_t skip_b = c > 0 ? row.best[c - 1] : 0;
      std::uint8_t step = skip_a >= skip_b ? kSkipA : kSkipB;
      row.best[c] = std::max(skip_a, skip_b);
      row.paired[c] = kImpossible;
      if (const std::int64_t weight = pair_weight(a[i], b[j]); weight > 0) {
        const std::int64_t after = above.paired_before(j) + kNeighbours;
        const std::int64_t any = above.best_before(j);
        row.paired[c] = weight + std::max(after, any);
        if (row.paired[c] >= row.best[c]) {
          row.best[c] = row.paired[c];
          step = kPair;
        }
        if (after >= any)
          step |= kAfterPair;
      }
      steps[i * width + c] = step;
    }
    std::swap(above, row);
  }
  return {trace_back(steps, band, a.size(), b.size()),
          a.empty() || b.empty() ? 0 : above.best_before(b.size())};
}

KernelPeriod find_period(std::span<const KernelToken> kernels) {
  KernelPeriod out;
  const std::size_t n = kernels.size();
  std::size_t most = 0;
  for (std::size_t p = 1; p <= std::min(n / 2, kLongestPeriod); ++p) {
    if (n - p <= most)
      break; // longer distances cannot have more matches
    std::size_t equal = 0;
    for (std::size_t i = 0; i + p < n; ++i)
      equal += kernels[i].name == kernels[i + p].name ? 1 : 0;
    if (equal > most) {
      most = equal;
      out = {p, static_cast<double>(equal) / static_cast<double>(n - p)};
    }
  }
  return 2 * most >= n ? out : KernelPeriod{};
}

} // namespace rankscope
