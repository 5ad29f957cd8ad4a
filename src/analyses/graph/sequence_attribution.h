// From a donor's sequence of kernels with operators to operators of another sequence: pairs, votes
// of the layers, and how sure each is. Works on symbols; knows nothing of traces.
#pragma once

#include "analyses/graph/kernel_sequence.h"

#include <span>
#include <vector>

namespace rankscope {

/// What is said of one kernel of the sequence.
struct NodeGuess {
  std::uint32_t op = kNoRow; ///< as the donor's; kNoRow = nothing
  double confidence = 0;     ///< 0 to 1
  bool same_shape = false;   ///< the donor's kernel has the same name, grid and block: shapes hold
};

struct SequenceGuess {
  std::vector<NodeGuess> nodes;
  KernelPeriod period;
  std::int64_t weight = 0; ///< of the alignment; more is better
  bool identical = false;  ///< as many kernels as the donor, each name in its place
};

/// Below it nothing is attributed.
inline constexpr double kLeastConfidence = 0.6;

/// Operators for `kernels` from a donor with operators `ops` (kNoRow = none). `op_name` says which
/// operators are of one name. Confidence = (1.0 same name, grid and block, 0.95 same name, 0.9 name
/// up to its numbers, 0.8 kind) x share of the kernels within half a period that have a partner x
/// share of the layers that agree; guesses below kLeastConfidence are dropped. An identical
/// sequence is sure: 1.0 where no grid or block contradicts, else 0.95. A kernel without a partner
/// that only finishes the work of the one before it belongs to that one's operator, at most 0.8.
/// Attention without a partner belongs to the operator of all attention that has one, where that is
/// one and a third of it has, with 0.8.
[[nodiscard]] SequenceGuess guess_operators(std::span<const KernelToken> kernels,
                                            std::span<const KernelToken> donor,
                                            std::span<const std::uint32_t> ops,
                                            std::span<const std::uint32_t> op_name);

/// At most this much can align_kernels() make of the two: by how often each name, stem and kind
/// occurs, without regard to order. Linear.
[[nodiscard]] std::int64_t most_weight(std::span<const KernelToken> a,
                                       std::span<const KernelToken> b);

} // namespace rankscope
