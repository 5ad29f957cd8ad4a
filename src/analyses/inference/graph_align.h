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
  bool named = true;       ///< of a call: its kernel's name is known
  bool copy = false;       ///< the name contains "Memcpy"
  bool set = false;        ///< the name contains "Memset"; of a kernel also "fillBuffer"
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
  /// There are several streams and calls without kernel names. The reference then merges no launch.
  bool hopeless = false;
  std::string why; ///< the reason if not all kernels are matched
};

/// Matches kernels (ordered by start) to calls (in their order). One stream, equal counts: by
/// position, else the k-th call of a name matches the k-th kernel of that name. One stream, other
/// counts: in order, skipping calls. Several streams: one queue for each stream, and a call matches
/// the head of a queue. If several heads fit, the call takes the queue that fits the most following
/// calls. `compat`: the reference's rules, which match all kernels or nothing. Otherwise, if these
/// rules fail, the longest common subsequence is used if it has at least half of the kernels. A
/// call without a kernel name then never matches a copy. Costs O(kernels + calls); the subsequence
/// costs O(kernels x calls).
[[nodiscard]] GraphAlignment align_graph(std::span<const GraphItem> calls,
                                         std::span<const GraphItem> kernels, bool compat);

} // namespace rankscope
