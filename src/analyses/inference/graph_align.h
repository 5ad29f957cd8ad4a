// Matches the kernels of a graph launch to the calls of its capture by names and order, because
// traces have no ids for this.
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
  bool named = true;       ///< for a call: the name of its kernel is known
  bool copy = false;       ///< the name contains "Memcpy"
  bool set = false;        ///< the name contains "Memset"; for a kernel also if it contains
                           ///< "fillBuffer"
  std::int32_t stream = 0; ///< stream of a kernel

  bool operator==(const GraphItem&) const = default;
};

/// Returns the item with this name. `text`: the text of the name; `kernel`: the item ran on the
/// GPU.
[[nodiscard]] GraphItem graph_item(StrId name, std::string_view text, bool kernel);

struct GraphAlignment {
  GraphMatch match = GraphMatch::kNone;
  /// For each kernel its call, or kNoRow; empty without a match.
  std::vector<std::uint32_t> call_of;
  std::size_t matched = 0;
  bool unchecked = false; ///< some call has no kernel name, so only its position was compared
  /// True if there are several streams, and calls without kernel names. In this case, the reference
  /// merges no launch.
  bool hopeless = false;
  std::string why; ///< the reason if not all kernels are matched
};

/// Matches kernels (ordered by start) to calls (in their order). One stream, as many calls as
/// kernels: by position; if names at a position differ, the k-th call of a name matches the k-th
/// kernel of that name. One stream, different numbers: in order; calls that match no kernel are
/// skipped. Several streams: each stream is a queue of kernels, and a call matches the kernel at
/// the head of a queue. If a call matches several heads, it takes the queue that matches the most
/// of the following calls. `compat`: the reference's rules, which match all kernels or nothing.
/// Without `compat`, if these rules fail, the longest common subsequence is used if it has at least
/// half of the kernels. Without `compat`, a call without a kernel name never matches a copy. Costs
/// O(kernels + calls); the subsequence costs O(kernels x calls).
[[nodiscard]] GraphAlignment align_graph(std::span<const GraphItem> calls,
                                         std::span<const GraphItem> kernels, bool compat);

} // namespace rankscope
