// LoadedTrace: a trace with its call tree, the unit that analyses take. Parsed and linked once.
#pragma once

#include "core/call_tree.h"
#include "core/graph_launch.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// What analyses of one trace share, by name: launchers, costs of operators, overlaps. A part is
/// made at its first use and depends on the trace and on what its name says, nothing else.
class AnalysisCache {
public:
  /// The part called `key`; `make` builds it the first time. One key always holds one type.
  template <class T, class Make> const T& get(const std::string& key, Make&& make) {
    std::shared_ptr<void>& slot = parts_[key];
    if (slot == nullptr)
      slot = std::make_shared<T>(make());
    return *static_cast<const T*>(slot.get());
  }
  /// As get(), for parts that fill up as they are used.
  template <class T, class Make> T& get_mutable(const std::string& key, Make&& make) {
    return const_cast<T&>(get<T>(key, std::forward<Make>(make)));
  }

private:
  std::map<std::string, std::shared_ptr<void>> parts_;
};

/// What people say of a model's attention that its operators do not record.
struct AttentionHints {
  /// Keys that a token attends to at most, layer by layer, again from the first when all are used;
  /// 0 = all of them. Empty: not told.
  std::vector<std::int64_t> layer_windows;
  std::int64_t sparse_topk = 0; ///< keys that sparse attention picks; 0 = by the number of heads
};

struct LoadedTrace {
  Trace trace;
  CallTree tree;
  std::int64_t rank = 0; ///< the rank the run assigned (discovery), header rank, or 0
  std::string label;     ///< short name for messages and columns
  /// Graph launches that a merge with captures looked at, by start; empty without one.
  std::vector<GraphLaunch> graph_launches;
  std::optional<std::size_t> pseudo_ops; ///< how many were put in; nullopt = none were looked for
  AttentionHints attention;
  /// Not synchronised: one thread analyses a trace. To be emptied when the trace is changed.
  mutable AnalysisCache cache;
};

/// Events below `root` other than GPU work, parents before their children, siblings in order.
template <class Visit> void visit_below(const LoadedTrace& t, EventId root, Visit&& visit) {
  std::vector<EventId> stack{root};
  while (!stack.empty()) {
    const EventId at = stack.back();
    stack.pop_back();
    if (at != root)
      visit(at);
    const auto children = t.tree.children(at);
    for (auto it = children.rbegin(); it != children.rend(); ++it)
      if (!t.trace.gpu(*it))
        stack.push_back(*it);
  }
}

} // namespace rankscope
