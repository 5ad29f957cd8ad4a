// Finds the operators of a kernel sequence from a donor sequence with operators: pairs, votes of
// the layers, and confidences. Works on symbols and does not depend on traces.
#pragma once

#include "analyses/graph/kernel_sequence.h"

#include <span>
#include <vector>

namespace rankscope {

/// The guess for one kernel of the sequence.
struct NodeGuess {
  std::uint32_t op = kNoRow; ///< an operator of the donor; kNoRow: no operator
  double confidence = 0;     ///< 0 to 1
  /// Same name, grid and block in the donor, so the donor's shapes are valid.
  bool same_shape = false;
};

struct SequenceGuess {
  std::vector<NodeGuess> nodes;
  KernelPeriod period;
  std::int64_t weight = 0; ///< weight of the alignment; more is better
  bool identical = false;  ///< as many kernels as the donor, with the same names in the same order
};

/// Guesses with a lower confidence are not used.
inline constexpr double kLeastConfidence = 0.6;

/// Returns operators for `kernels` from a donor with operators `ops` (kNoRow = no operator).
/// `op_name` is equal for operators with the same name. Confidence is the product of three factors:
/// the match (1.0 same name, grid and block; 0.95 same name; 0.9 names that differ only in numbers;
/// 0.8 kind), the share of kernels within half a period that have a partner, and the share of
/// layers that agree. Guesses below kLeastConfidence are dropped. An identical sequence has
/// confidence 1.0 if all grids and blocks agree, else 0.95. A kernel without a partner that only
/// finishes the work of the preceding kernel gets that kernel's operator, with a confidence of at
/// most 0.8. Attention kernels without a partner get the operator of those with a partner, with a
/// confidence of 0.8. This requires that those have one operator and are at least a third of the
/// attention kernels.
[[nodiscard]] SequenceGuess guess_operators(std::span<const KernelToken> kernels,
                                            std::span<const KernelToken> donor,
                                            std::span<const std::uint32_t> ops,
                                            std::span<const std::uint32_t> op_name);

/// Returns an upper bound of the weight from align_kernels(). Counts how often each name and kind
/// occurs and ignores the order. Linear.
[[nodiscard]] std::int64_t most_weight(std::span<const KernelToken> a,
                                       std::span<const KernelToken> b);

} // namespace rankscope
