// Matches the kernels of a graph launch to the calls of its capture, by names and order: traces
// have no ids for this.
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
  bool unchecked = false; ///< some call has no kernel name: only its position decided
  /// Several streams, and calls without kernel names: the reference then merges no launch at all.
  bool hopeless = false;
  std::string why; ///< not all matched: the reason
};

/// Matches kernels, by start, to calls, in order. One stream, equal counts: by position, else the
/// k-th call of a name to its k-th kernel. One stream, other counts: in order, with calls skipped.
/// Several streams: one queue each; a call matches the head of a queue. If several heads fit, it
/// takes the queue that fits the most following calls. `compat`: the reference's rules, which match
/// all kernels or nothing. Otherwise, if that fails, the longest common subsequence counts when it
/// has at least half of the kernels, and a call without a kernel name never matches a copy. Costs
/// O(kernels + calls), the subsequence O(kernels x calls).
[[nodiscard]] GraphAlignment align_graph(std::span<const GraphItem> calls,
                                         std::span<const GraphItem> kernels, bool compat);

} // namespace rankscope
