// CallTree: the CPU call stacks, the CPU-to-GPU links and the forward/backward links of one trace,
// according to docs/reference/report-rules.md 3 to 5. It is built once per trace; all analyses use
// it.
#pragma once

#include "core/gpu_launches.h"
#include "core/trace.h"
#include "core/tree_changes.h"

#include <span>

namespace rankscope {

struct CallTreeOptions {
  bool include_python = false; ///< python_function events are in the stacks too
  /// With the reference rules of the batch report, every event that ends after its parent is
  /// dropped, even if the difference is small (docs/reference/batch-rules.md 1).
  TreeRules rules = TreeRules::kRankscope;
};

class CallTree {
public:
  /// Builds the tree without recursion, O(n log n). GPU events without a launch are not linked;
  /// only gpu_event_count() counts them.
  static CallTree build(const Trace& trace, const CallTreeOptions& options = {});

  /// Applies explicit changes, also for events that were added to the trace after the tree was
  /// built. The GPU events below each event and the outermost operators are then computed again.
  /// O(n).
  void change(const Trace& trace, const TreeChanges& changes);

  /// Returns the parent of e; kNoEvent for roots, unlinked GPU events and dropped events.
  [[nodiscard]] EventId parent(EventId e) const { return parent_[e]; }
  /// Returns true for a GPU event that a runtime call launched.
  [[nodiscard]] bool linked(EventId e) const { return linked_[e]; }
  /// Returns the children (CPU and linked GPU events) in the order in which they were attached.
  [[nodiscard]] std::span<const EventId> children(EventId e) const;
  /// Returns all linked GPU events in the subtree of e, in the order in which their runtime calls
  /// are in the file.
  [[nodiscard]] std::span<const EventId> gpu_events(EventId e) const;
  /// Returns the outermost cpu_ops ("cpu root nodes"), in tree order.
  [[nodiscard]] std::span<const EventId> cpu_roots() const { return cpu_roots_; }
  /// Returns the forward op of an autograd wrapper (section 5), or kNoEvent.
  [[nodiscard]] EventId forward_of(EventId wrapper) const;
  /// Returns the autograd wrappers linked to a forward op, in link order.
  [[nodiscard]] std::span<const EventId> backward_of(EventId forward) const;
  /// Returns the nearest cpu_op among the ancestors of e, or kNoEvent.
  [[nodiscard]] EventId cpu_op_above(const Trace& trace, EventId e) const;

  /// Returns the options that build() got.
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
  std::vector<std::uint32_t> child_begin_; ///< size n + 1; the children of e are
                                           ///< children_[begin[e]] to children_[begin[e + 1] - 1]
  std::vector<EventId> children_;
  /// GPU events in an order in which those of each subtree are adjacent: [gpu_first_[e],
  /// gpu_last_[e]).
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
