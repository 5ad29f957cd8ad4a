// Which kernel of a graph launch came from which call of its capture: names and order tell, nothing
// else does.
#pragma once

#include "core/graph_launch.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A call that was captured, or a kernel that was replayed. Names are ids of one pool.
struct GraphItem {
  StrId name = kEmptyStr;
  bool named = true;       ///< of a call: it says its kernel
  bool copy = false;       ///< the name has "Memcpy"
  bool set = false;        ///< the name has "Memset"; of a kernel also "fillBuffer"
  std::int32_t stream = 0; ///< of a kernel

  bool operator==(const GraphItem&) const = default;
};

/// `text`: what the name is; `kernel`: it ran on the GPU.
[[nodiscard]] GraphItem graph_item(StrId name, std::string_view text, bool kernel);

struct GraphAlignment {
  GraphMatch match = GraphMatch::kNone;
  std::vector<std::uint32_t> call_of; ///< by kernel: the call, kNoRow = none; empty without a match
  std::size_t matched = 0;
  bool unchecked = false; ///< some call does not say its kernel: its place alone decided
  /// Several streams, and calls that do not say their kernels: the reference ends its whole merge.
  bool hopeless = false;
  std::string why; ///< not all matched: the reason
};

/// Kernels by start, calls in order. One stream and equally many: by position, else the k-th call
/// of a name to its k-th kernel. One stream and not as many: in order, calls passed over. Several
/// streams: a queue for each, a call takes the head of one; of several that fit the one that fits
/// the following calls longest. `compat`: the reference's rules, all kernels or none; else what is
/// left is aligned by the longest common subsequence, taken where it holds half of the kernels or
/// more, and a call that does not say its kernel never takes a copy. Costs O(kernels + calls), the
/// subsequence O(kernels x calls).
[[nodiscard]] GraphAlignment align_graph(std::span<const GraphItem> calls,
                                         std::span<const GraphItem> kernels, bool compat);

} // namespace rankscope
