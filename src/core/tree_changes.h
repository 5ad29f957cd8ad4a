// TreeChanges: explicit parents and children of events in a call tree, for events whose times do
// not show where they belong. Examples are the events of a captured graph, which belong to the
// graph launch.
#pragma once

#include "core/trace.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rankscope {

class TreeChanges {
public:
  /// Sets all children of an event, in order. If it is called twice for an event, the last list is
  /// used. No list of another event may contain these children. Set their parents with parent().
  void children(EventId e, std::span<const EventId> list) {
    nodes_.push_back({e, static_cast<std::uint32_t>(list_.size()),
                      static_cast<std::uint32_t>(list_.size() + list.size())});
    list_.insert(list_.end(), list.begin(), list.end());
  }
  void parent(EventId e, EventId new_parent) { parents_.emplace_back(e, new_parent); }

  struct Node {
    EventId event;
    std::uint32_t begin, end; ///< range of its children in list()
  };
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const EventId> list() const { return list_; }
  [[nodiscard]] std::span<const std::pair<EventId, EventId>> parents() const { return parents_; }

private:
  std::vector<Node> nodes_;
  std::vector<EventId> list_;
  std::vector<std::pair<EventId, EventId>> parents_; ///< (event, parent)
};

} // namespace rankscope
