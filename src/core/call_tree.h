// CallTree: CPU call stacks, CPU-to-GPU links and forward/backward links of one trace, by the rules
// of docs/reference/report-rules.md 3 to 5. Built once per trace, shared by every analysis.
#pragma once

#include "core/gpu_launches.h"
#include "core/trace.h"
#include "core/tree_changes.h"

#include <span>

namespace rankscope {

struct CallTreeOptions {
  bool include_python = false; ///< python_function events take part in the stacks
  /// By those of the batch report's reference an event that outlives its parent is dropped however
  /// little it does (docs/reference/batch-rules.md 1).
  TreeRules rules = TreeRules::kOwn;
};

class CallTree {
public:
  /// Iterative, O(n log n). GPU events without a launch stay unlinked and are counted.
  static CallTree build(const Trace& trace, const CallTreeOptions& options = {});

  /// Changed by hand; events that the trace got since the tree was built may take part. The GPU
  /// events below each event, and which operators are outermost, follow from the children. O(n).
  void change(const Trace& trace, const TreeChanges& changes);

  /// kNoEvent at roots, for unlinked GPU events and for events dropped from the tree.
  [[nodiscard]] EventId parent(EventId e) const { return parent_[e]; }
  /// True for a GPU event that a runtime call launched.
  [[nodiscard]] bool linked(EventId e) const { return linked_[e]; }
  /// Children (CPU and linked GPU events) in the order they were attached.
  [[nodiscard]] std::span<const EventId> children(EventId e) const;
  /// All linked GPU events in the subtree of e, runtime file order.
  [[nodiscard]] std::span<const EventId> gpu_events(EventId e) const;
  /// Outermost cpu_ops ("cpu root nodes"), in tree order.
  [[nodiscard]] std::span<const EventId> cpu_roots() const { return cpu_roots_; }
  /// Forward op of an autograd wrapper (section 5), or kNoEvent.
  [[nodiscard]] EventId forward_of(EventId wrapper) const;
  /// Autograd wrappers linked to a forward op, in link order.
  [[nodiscard]] std::span<const EventId> backward_of(EventId forward) const;
  /// Nearest cpu_op at or above e's parent, or kNoEvent.
  [[nodiscard]] EventId cpu_op_above(const Trace& trace, EventId e) const;

  /// The options of build().
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
