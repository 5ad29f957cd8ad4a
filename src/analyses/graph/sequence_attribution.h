// Finds operators of a kernel sequence from a donor's sequence with operators: pairs, votes of the
// layers, and the confidence of each. Works on symbols and does not depend on traces.
#pragma once

#include "analyses/graph/kernel_sequence.h"

#include <span>
#include <vector>

namespace rankscope {

/// The guess for one kernel of the sequence.
struct NodeGuess {
  std::uint32_t op = kNoRow; ///< as the donor's; kNoRow = no operator
  double confidence = 0;     ///< 0 to 1
  bool same_shape = false;   ///< same name, grid and block in the donor: its shapes are valid
};

struct SequenceGuess {
  std::vector<NodeGuess> nodes;
  KernelPeriod period;
  std::int64_t weight = 0; ///< of the alignment; more is better
  bool identical = false;  ///< as many kernels as the donor, each name in its place
};

/// Below it nothing is attributed.
inline constexpr double kLeastConfidence = 0.6;

/// Returns operators for `kernels` from a donor with operators `ops` (kNoRow = no operator).
/// `op_name` is equal for operators with the same name. Confidence = (1.0 same name, grid and
/// block, 0.95 same name, 0.9 name up to its numbers, 0.8 kind) x share of the kernels within half
/// a period that have a partner x share of the layers that agree. Guesses below kLeastConfidence
/// are dropped. An identical sequence is sure: 1.0 if all grids and blocks agree, else 0.95. A
/// kernel without a partner that only finishes the work of the one before it gets that one's
/// operator, at most 0.8. Attention without a partner gets the operator of attention with a
/// partner, with 0.8, if that is one operator and at least a third has a partner.
[[nodiscard]] SequenceGuess guess_operators(std::span<const KernelToken> kernels,
                                            std::span<const KernelToken> donor,
                                            std::span<const std::uint32_t> ops,
                                            std::span<const std::uint32_t> op_name);

/// Returns an upper bound of the weight from align_kernels(), by how often each name, stem and kind
/// occurs, without regard to order. Linear.
[[nodiscard]] std::int64_t most_weight(std::span<const KernelToken> a,
                                       std::span<const KernelToken> b);

} // namespace rankscope
