// Kernel sequences as symbols, so that two traces can be compared: names, names without their
// shape-dependent parts, kinds, and launch shapes.
#pragma once

#include "core/loaded_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// The symbols of one kernel. Within one KernelSymbols, equal numbers mean equal texts.
struct KernelToken {
  std::uint32_t name = 0;  ///< the full name
  std::uint32_t stem = 0;  ///< kernel_stem()
  std::uint32_t kind = 0;  ///< kernel_kind()
  std::uint32_t shape = 0; ///< grid and block; 0: not recorded
  bool finishes = false;   ///< finishes_another()
  bool attention = false;  ///< the kernel belongs to the attention family
  friend bool operator==(const KernelToken&, const KernelToken&) = default;
};

class KernelSymbols {
public:
  [[nodiscard]] std::vector<KernelToken> tokens(const Trace& trace, std::span<const EventId> gpu);
  [[nodiscard]] KernelToken token(const Trace& trace, EventId gpu);
  [[nodiscard]] KernelToken token(const Trace& trace, const LaunchArgs& launch);
  /// Returns the token of a kernel with this name and unknown shape.
  [[nodiscard]] KernelToken token(std::string_view name);

private:
  std::uint32_t number(const std::string& text);
  std::uint32_t shape(const Trace& trace, StrId grid, StrId block);

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::string, KernelToken> names_; ///< tokens by name, with shape 0
};

/// The degree to which two kernels match.
enum class KernelMatch : std::uint8_t {
  kNone,
  kKind, ///< same kind of kernel: libraries use different kernels for different shapes
  kStem, ///< names that differ in numbers only
  kName,
  kShape, ///< same name, grid and block
};
[[nodiscard]] inline KernelMatch kernel_match(const KernelToken& a, const KernelToken& b) {
  if (a.name == b.name)
    return a.shape != 0 && a.shape == b.shape ? KernelMatch::kShape : KernelMatch::kName;
  if (a.stem == b.stem)
    return KernelMatch::kStem;
  return a.kind == b.kind ? KernelMatch::kKind : KernelMatch::kNone;
}

inline constexpr std::uint32_t kNoPartner = 0xffffffffU;

/// An alignment of two sequences. `partner` has the partner in `b` of each token of `a`, or
/// kNoPartner. The alignment is the pairing with the most weight that keeps the order. A pair
/// weighs 8 (kind), 10 (stem), 12 (name) or 16 (with grid and block), and 2 more if the tokens
/// before the two are also a pair. Only matching tokens are paired; gaps cost nothing. Above
/// `max_cells` cells only a band around the diagonal is searched, which limits the cost for
/// thousands of kernels. Example: A B C against B X C pairs B and C.
struct KernelAlignment {
  std::vector<std::uint32_t> partner;
  std::int64_t weight = 0;
};
[[nodiscard]] KernelAlignment align_kernels(std::span<const KernelToken> a,
                                            std::span<const KernelToken> b,
                                            std::size_t max_cells = std::size_t{1} << 24U);
[[nodiscard]] std::int64_t pair_weight(const KernelToken& a, const KernelToken& b);

/// The distance at which most kernel names repeat: the length of a layer, or of several layers if
/// the layers differ in kind. If several distances are equally good, the smallest is used.
struct KernelPeriod {
  std::size_t length = 0; ///< 0: no period, because fewer than half of the kernels repeat
  /// Fraction of the kernels i with the same name as kernel i + length, among all i for which
  /// kernel i + length exists.
  double agreement = 0;
};
[[nodiscard]] KernelPeriod find_period(std::span<const KernelToken> kernels);

} // namespace rankscope
