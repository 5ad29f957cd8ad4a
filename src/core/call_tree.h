// CallTree: CPU call stacks, CPU-to-GPU links and forward/backward links of one trace, by the rules
// of docs/reference/report-rules.md 3 to 5. Built once per trace, shared by every analysis.
#pragma once

#include "core/gpu_launches.h"
#include "core/trace.h"
#include "core/tree_changes.h"

#include <span>

namespace rankscope {

struct CallTreeOptions {
  bool include_python = false; ///< python_function events are part of the stacks
  /// With the rules of the batch report's reference, every event that outlives its parent is
  /// dropped, even if only slightly (docs/reference/batch-rules.md 1).
  TreeRules rules = TreeRules::kOwn;
};

class CallTree {
public:
  /// Builds the tree without recursion, O(n log n). GPU events without a launch stay unlinked and
  /// are counted.
  static CallTree build(const Trace& trace, const CallTreeOptions& options = {});

  /// Applies explicit changes. They may include events added to the trace since the tree was built.
  /// The GPU events below each event and the outermost operators are computed again. O(n).
  void change(const Trace& trace, const TreeChanges& changes);

  /// Returns kNoEvent for roots, unlinked GPU events and events dropped from the tree.
  [[nodiscard]] EventId parent(EventId e) const { return parent_[e]; }
  /// Returns true for a GPU event that a runtime call launched.
  [[nodiscard]] bool linked(EventId e) const { return linked_[e]; }
  /// Returns the children (CPU and linked GPU events) in the order in which they were attached.
  [[nodiscard]] std::span<const EventId> children(EventId e) const;
  /// Returns all linked GPU events in the subtree of e, in file order of their runtime calls.
  [[nodiscard]] std::span<const EventId> gpu_events(EventId e) const;
  /// Returns the outermost cpu_ops ("cpu root nodes"), in tree order.
  [[nodiscard]] std::span<const EventId> cpu_roots() const { return cpu_roots_; }
  /// Returns the forward op of an autograd wrapper (section 5), or kNoEvent.
  [[nodiscard]] EventId forward_of(EventId wrapper) const;
  /// Returns the autograd wrappers linked to a forward op, in link order.
  [[nodiscard]] std::span<const EventId> backward_of(EventId forward) const;
  /// Returns the nearest cpu_op at or above e's parent, or kNoEvent.
  [[nodiscard]] EventId cpu_op_above(const Trace& trace, EventId e) const;

  /// Returns the options passed to build().
  [[nodiscard]] const CallTreeOptions& options() const { return options_; }
  [[nodiscard]] std::size_t gpu_event_count() const { return gpu_total_; }
  [[nodiscard]] std::size_t linked_count() const { return gpu_linked_; }

private:
  class Builder;
  void set_children(std::size_t events, const TreeChanges& changes);
  void order_below(const Trace& trace, EventId root);
  void sort_roots(const Trace& trace);

  CallTreeOptions options_;
  std::vector<EventId> parent_;
  std::vector<bool> linked_;
  std::vector<std::uint32_t> child_begin_; ///< size n+1; children_ of e: [begin[e], begin[e+1])
  std::vector<EventId> children_;
  /// GPU events ordered so that each subtree is one range [gpu_first_[e], gpu_last_[e]).
  std::vector<EventId> gpu_order_;
  std::vector<std::uint32_t> gpu_first_;
  std::vector<std::uint32_t> gpu_last_;
  std::vector<EventId> cpu_roots_;
  std::vector<std::pair<EventId, EventId>> forward_of_;  ///< (wrapper, forward), sorted
  std::vector<std::pair<EventId, EventId>> backward_of_; ///< (forward, wrapper), sorted by forward
  std::vector<EventId> backward_list_;                   ///< wrappers in backward_of_ order
  std::size_t gpu_total_ = 0;
  std::size_t gpu_linked_ = 0;
};

} // namespace rankscope
