// Sequences of kernels as symbols, so that two traces can be compared: names, names without their
// shape-dependent parts, kinds, and launch shapes.
#pragma once

#include "core/loaded_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// The symbols of one kernel; equal numbers mean equal texts in all sequences of one KernelSymbols.
struct KernelToken {
  std::uint32_t name = 0;  ///< the full name
  std::uint32_t stem = 0;  ///< kernel_stem()
  std::uint32_t kind = 0;  ///< kernel_kind()
  std::uint32_t shape = 0; ///< grid and block; 0 = not recorded
  bool finishes = false;   ///< finishes_another()
  bool attention = false;  ///< its family
  friend bool operator==(const KernelToken&, const KernelToken&) = default;
};

class KernelSymbols {
public:
  [[nodiscard]] std::vector<KernelToken> tokens(const Trace& trace, std::span<const EventId> gpu);
  [[nodiscard]] KernelToken token(const Trace& trace, EventId gpu);
  [[nodiscard]] KernelToken token(const Trace& trace, const LaunchArgs& launch);
  /// By name alone.
  [[nodiscard]] KernelToken token(std::string_view name);

private:
  std::uint32_t number(const std::string& text);
  std::uint32_t shape(const Trace& trace, StrId grid, StrId block);

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::string, KernelToken> names_; ///< shape 0
};

/// How closely two kernels match.
enum class KernelMatch : std::uint8_t {
  kNone,
  kKind, ///< the same kind: another shape may take another kernel
  kStem, ///< names that differ in numbers only
  kName,
  kShape, ///< name, grid and block
};
[[nodiscard]] inline KernelMatch kernel_match(const KernelToken& a, const KernelToken& b) {
  if (a.name == b.name)
    return a.shape != 0 && a.shape == b.shape ? KernelMatch::kShape : KernelMatch::kName;
  if (a.stem == b.stem)
    return KernelMatch::kStem;
  return a.kind == b.kind ? KernelMatch::kKind : KernelMatch::kNone;
}

inline constexpr std::uint32_t kNoPartner = 0xffffffffU;

/// The partner in `b` of each token of `a`, or kNoPartner: the pairing with the most weight that
/// keeps the order. A pair weighs 8 (kind), 10 (stem), 12 (name) or 16 (with grid and block), 2
/// more if the tokens before both are a pair. Tokens that do not match are not paired; gaps cost
/// nothing. Above `max_cells` cells only a band around the diagonal is searched, which limits the
/// cost for thousands of kernels. Example: A B C against B X C pairs B and C.
struct KernelAlignment {
  std::vector<std::uint32_t> partner;
  std::int64_t weight = 0;
};
[[nodiscard]] KernelAlignment align_kernels(std::span<const KernelToken> a,
                                            std::span<const KernelToken> b,
                                            std::size_t max_cells = std::size_t{1} << 24U);
[[nodiscard]] std::int64_t pair_weight(const KernelToken& a, const KernelToken& b);

/// The distance at which most kernels have the same name again (a layer, or the layers until their
/// kinds repeat), the smallest one of equals.
struct KernelPeriod {
  std::size_t length = 0; ///< 0 = none: fewer than half of the kernels repeat
  double agreement = 0;   ///< of those with a kernel `length` later: share with the same name
};
[[nodiscard]] KernelPeriod find_period(std::span<const KernelToken> kernels);

} // namespace rankscope
