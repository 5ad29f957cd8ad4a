#include "core/call_tree.h"

#include "core/reference_time.h"

#include <algorithm>

namespace rankscope {
namespace {

/// The CPU events of each thread in time order; events that start at the same time are in file
/// order. The events of track t are order[begin[t]] to order[begin[t + 1] - 1].
struct Threads {
  std::vector<std::uint32_t> begin;
  std::vector<EventId> order;
};

Threads cpu_events_by_thread(const Trace& trace, bool include_python) {
  const Events& e = trace.events;
  const auto n = static_cast<EventId>(e.size());
  const auto on_cpu = [&](EventId i) {
    const Category c = e.category[i];
    return c == Category::kCpuOp || is_runtime(c) ||
           (include_python && c == Category::kPythonFunction);
  };
  Threads out;
  out.begin.assign(trace.tracks.size() + 1, 0);
  for (EventId i = 0; i < n; ++i)
    if (on_cpu(i))
      ++out.begin[e.track[i] + 1];
  for (std::size_t t = 1; t < out.begin.size(); ++t)
    out.begin[t] += out.begin[t - 1];
  out.order.resize(out.begin.back());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (EventId i = 0; i < n; ++i)
    if (on_cpu(i))
      out.order[next[e.track[i]]++] = i;
  for (std::size_t t = 0; t + 1 < out.begin.size(); ++t) {
    const auto first = out.order.begin() + out.begin[t];
    const auto last = out.order.begin() + out.begin[t + 1];
    const auto by_time = [&e](EventId a, EventId b) { return e.ts_ns[a] < e.ts_ns[b]; };
    if (!std::is_sorted(first, last, by_time))
      std::stable_sort(first, last, by_time);
  }
  return out;
}

/// Returns (wrapper, forward) pairs with the same sequence number (section 5), in ascending order
/// of the number.
std::vector<std::pair<EventId, EventId>> forward_links(const Trace& trace) {
  const Events& e = trace.events;
  std::vector<std::pair<std::int64_t, EventId>> sequence; // (number, event), file order
  for (EventId i = 0; i < e.size(); ++i)
    if (const OpArgs* op = trace.op(i); op != nullptr && op->sequence_number != kNoId)
      sequence.emplace_back(op->sequence_number, i);
  if (!std::is_sorted(sequence.begin(), sequence.end()))
    std::sort(sequence.begin(), sequence.end());
  static constexpr std::string_view kWrapper = "autograd::engine::evaluate_function:";
  const auto is_wrapper = [&trace](EventId i) {
    return trace.name(i).substr(0, kWrapper.size()) == kWrapper;
  };
  std::vector<std::pair<EventId, EventId>> out;
  for (std::size_t i = 0; i < sequence.size();) {
    std::size_t last = i;
    EventId wrapper = kNoEvent;
    for (; last < sequence.size() && sequence[last].first == sequence[i].first; ++last)
      if (wrapper == kNoEvent && is_wrapper(sequence[last].second))
        wrapper = sequence[last].second;
    EventId forward = kNoEvent;
    for (std::size_t k = i; k < last && wrapper != kNoEvent; ++k) {
      const EventId ev = sequence[k].second;
      if (e.track[ev] != e.track[wrapper] &&
          (forward == kNoEvent || e.ts_ns[ev] > e.ts_ns[forward]))
        forward = ev;
    }
    if (forward != kNoEvent)
      out.emplace_back(wrapper, forward);
    i = last;
  }
  return out;
}

} // namespace

/// Fills a tree step by step. The order of the calls in build() follows their dependencies.
class CallTree::Builder {
public:
  Builder(const Trace& trace, TreeRules rules)
      : trace_(trace), e_(trace.events), rules_(rules), launches_(find_launches(trace, rules)) {
    const std::size_t n = e_.size();
    tree_.parent_.assign(n, kNoEvent);
    tree_.linked_.assign(n, false);
    tree_.gpu_first_.assign(n, 0);
    tree_.gpu_last_.assign(n, 0);
  }

  void link_gpu() {
    for (const auto& [runtime, gpu] : launches_.pairs) {
      tree_.parent_[gpu] = runtime; // if two calls launch the same kernel, the later one is its
                                    // parent
      tree_.linked_[gpu] = true;
    }
    for (EventId i = 0; i < e_.size(); ++i)
      if (is_gpu(e_.category[i])) {
        ++tree_.gpu_total_;
        tree_.gpu_linked_ += tree_.linked_[i] ? 1 : 0;
      }
  }

  void nest(const Threads& threads) {
    in_tree_.reserve(threads.order.size());
    for (std::size_t t = 0; t + 1 < threads.begin.size(); ++t) {
      for (std::uint32_t i = threads.begin[t]; i < threads.begin[t + 1]; ++i)
        if (make_room(threads.order[i]))
          push(threads.order[i]);
        else
          dropped_.push_back(threads.order[i]);
      while (!stack_.empty())
        pop();
    }
    for (const EventId ev : dropped_) { // the GPU work that a dropped event launched still belongs
                                        // to it
      open_range(ev);
      tree_.gpu_last_[ev] = gpu_so_far();
    }
    tree_.sort_roots(trace_);
  }

  /// Lists the children of each event: first CPU events in stack order, then the GPU work that a
  /// runtime call launched.
  void list_children() {
    std::vector<std::uint32_t>& begin = tree_.child_begin_;
    begin.assign(e_.size() + 1, 0);
    for (const EventId ev : in_tree_)
      if (tree_.parent_[ev] != kNoEvent)
        ++begin[tree_.parent_[ev] + 1];
    for (const auto& [runtime, gpu] : launches_.pairs)
      ++begin[runtime + 1];
    for (std::size_t i = 1; i < begin.size(); ++i)
      begin[i] += begin[i - 1];
    tree_.children_.resize(begin.back());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const EventId ev : in_tree_)
      if (tree_.parent_[ev] != kNoEvent)
        tree_.children_[next[tree_.parent_[ev]]++] = ev;
    for (const auto& [runtime, gpu] : launches_.pairs)
      tree_.children_[next[runtime]++] = gpu;
  }

  void link_forward() {
    tree_.forward_of_ = forward_links(trace_);
    for (const auto& [wrapper, forward] : tree_.forward_of_)
      tree_.backward_of_.emplace_back(forward, wrapper);
    std::sort(tree_.forward_of_.begin(), tree_.forward_of_.end());
    std::stable_sort(tree_.backward_of_.begin(), tree_.backward_of_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [forward, wrapper] : tree_.backward_of_)
      tree_.backward_list_.push_back(wrapper);
  }

  [[nodiscard]] CallTree finish() && { return std::move(tree_); }

private:
  /// Removes from the stack the events that ended before ev begins. If ev ends after its parent but
  /// overlaps it by less than 1 us, the parent is removed too, and the parent's parent becomes that
  /// of ev. If it overlaps by more, returns false: ev is dropped (section 4).
  bool make_room(EventId ev) {
    if (rules_ != TreeRules::kRankscope)
      return make_room_in_doubles(ev);
    const std::int64_t start = e_.ts_ns[ev];
    while (!stack_.empty() && start >= trace_.end_ns(stack_.back()))
      pop();
    if (stack_.empty() || start + e_.dur_ns[ev] <= trace_.end_ns(stack_.back()))
      return true;
    if (trace_.end_ns(stack_.back()) - start >= 1000 || stack_.size() < 2)
      return false;
    pop();
    return true;
  }

  /// Like make_room(), but with sums that are rounded as in the reference. Because of the rounding,
  /// a child may seem to end after its parent.
  bool make_room_in_doubles(EventId ev) {
    const UsInterval at = reference_interval(trace_, ev);
    while (!stack_.empty() && at.start >= reference_interval(trace_, stack_.back()).end)
      pop();
    if (stack_.empty())
      return true;
    const double end = reference_interval(trace_, stack_.back()).end;
    if (at.end <= end)
      return true;
    if (rules_ == TreeRules::kBatchReference || end - at.start >= 1 || stack_.size() < 2)
      return false;
    pop();
    return true;
  }

  void push(EventId ev) {
    if (!stack_.empty())
      tree_.parent_[ev] = stack_.back();
    if (e_.category[ev] == Category::kCpuOp && cpu_ops_open_++ == 0)
      tree_.cpu_roots_.push_back(ev);
    stack_.push_back(ev);
    in_tree_.push_back(ev);
    open_range(ev);
  }

  void pop() {
    const EventId top = stack_.back();
    stack_.pop_back();
    tree_.gpu_last_[top] = gpu_so_far();
    cpu_ops_open_ -= e_.category[top] == Category::kCpuOp ? 1 : 0;
  }

  /// Begins the range of GPU events of ev's subtree; the first are those that ev itself launched.
  void open_range(EventId ev) {
    tree_.gpu_first_[ev] = gpu_so_far();
    if (!is_runtime(e_.category[ev]))
      return;
    auto it = std::lower_bound(launches_.pairs.begin(), launches_.pairs.end(),
                               std::make_pair(ev, EventId{0}));
    for (; it != launches_.pairs.end() && it->first == ev; ++it)
      tree_.gpu_order_.push_back(it->second);
  }

  [[nodiscard]] std::uint32_t gpu_so_far() const {
    return static_cast<std::uint32_t>(tree_.gpu_order_.size());
  }

  const Trace& trace_;
  const Events& e_;
  const TreeRules rules_;
  Launches launches_;
  CallTree tree_;
  std::vector<EventId> in_tree_;
  std::vector<EventId> dropped_;
  std::vector<EventId> stack_;
  std::size_t cpu_ops_open_ = 0;
};

CallTree CallTree::build(const Trace& trace, const CallTreeOptions& options) {
  Builder builder(trace, options.rules);
  builder.link_gpu();
  builder.nest(cpu_events_by_thread(trace, options.include_python));
  builder.list_children();
  builder.link_forward();
  CallTree out = std::move(builder).finish();
  out.options_ = options;
  return out;
}

void CallTree::sort_roots(const Trace& trace) {
  const std::vector<std::int64_t>& ts = trace.events.ts_ns;
  std::stable_sort(cpu_roots_.begin(), cpu_roots_.end(),
                   [&ts](EventId a, EventId b) { return ts[a] != ts[b] ? ts[a] < ts[b] : a < b; });
}

void CallTree::set_children(std::size_t events, const TreeChanges& changes) {
  const std::size_t before = parent_.size();
  std::vector<const TreeChanges::Node*> changed(events, nullptr);
  for (const TreeChanges::Node& node : changes.nodes())
    changed[node.event] = &node;
  std::vector<std::uint32_t> begin(events + 1, 0);
  std::vector<EventId> list;
  list.reserve(children_.size() + changes.list().size());
  for (EventId e = 0; e < events; ++e) {
    if (const TreeChanges::Node* node = changed[e])
      list.insert(list.end(), changes.list().begin() + node->begin,
                  changes.list().begin() + node->end);
    else if (e < before)
      list.insert(list.end(), children_.begin() + child_begin_[e],
                  children_.begin() + child_begin_[e + 1]);
    begin[e + 1] = static_cast<std::uint32_t>(list.size());
  }
  child_begin_ = std::move(begin);
  children_ = std::move(list);
}

/// Lists the GPU events below `root` in the order of the calls, and finds the outermost operators.
void CallTree::order_below(const Trace& trace, EventId root) {
  const std::vector<Category>& category = trace.events.category;
  struct Open {
    EventId event;
    std::uint32_t next; ///< index into children_
  };
  std::vector<Open> stack;
  std::size_t cpu_ops_open = 0;
  const auto enter = [&](EventId e) {
    gpu_first_[e] = static_cast<std::uint32_t>(gpu_order_.size());
    for (const EventId child : children(e)) // the call's own launches are first
      if (is_gpu(category[child]))
        gpu_order_.push_back(child);
    if (category[e] == Category::kCpuOp && cpu_ops_open++ == 0)
      cpu_roots_.push_back(e);
    stack.push_back({e, child_begin_[e]});
  };
  enter(root);
  while (!stack.empty()) {
    Open& top = stack.back();
    const EventId e = top.event;
    if (top.next == child_begin_[e + 1]) {
      gpu_last_[e] = static_cast<std::uint32_t>(gpu_order_.size());
      cpu_ops_open -= category[e] == Category::kCpuOp ? 1 : 0;
      stack.pop_back();
    } else if (const EventId child = children_[top.next++]; !is_gpu(category[child])) {
      enter(child);
    }
  }
}

void CallTree::change(const Trace& trace, const TreeChanges& changes) {
  const std::size_t n = trace.events.size();
  set_children(n, changes);
  parent_.resize(n, kNoEvent);
  linked_.resize(n, false);
  for (const auto& [event, new_parent] : changes.parents())
    parent_[event] = new_parent;
  std::vector<bool> was_root(n, false); // a root without children is still a root
  for (const EventId root : cpu_roots_)
    was_root[root] = true;
  std::vector<bool> is_child(n, false);
  for (const EventId child : children_)
    is_child[child] = true;
  gpu_order_.clear();
  gpu_first_.assign(n, 0);
  gpu_last_.assign(n, 0);
  cpu_roots_.clear();
  for (EventId e = 0; e < n; ++e)
    if (!is_child[e] && !is_gpu(trace.events.category[e]) &&
        (child_begin_[e] != child_begin_[e + 1] || was_root[e]))
      order_below(trace, e);
  sort_roots(trace);
}

std::span<const EventId> CallTree::children(EventId e) const {
  return {children_.data() + child_begin_[e], children_.data() + child_begin_[e + 1]};
}

std::span<const EventId> CallTree::gpu_events(EventId e) const {
  return {gpu_order_.data() + gpu_first_[e], gpu_order_.data() + gpu_last_[e]};
}

EventId CallTree::forward_of(EventId wrapper) const {
  const auto it =
      std::lower_bound(forward_of_.begin(), forward_of_.end(), std::make_pair(wrapper, EventId{0}));
  return it != forward_of_.end() && it->first == wrapper ? it->second : kNoEvent;
}

std::span<const EventId> CallTree::backward_of(EventId forward) const {
  const auto less = [](const auto& entry, EventId id) { return entry.first < id; };
  const auto first = std::lower_bound(backward_of_.begin(), backward_of_.end(), forward, less);
  auto last = first;
  while (last != backward_of_.end() && last->first == forward)
    ++last;
  return {backward_list_.data() + (first - backward_of_.begin()),
          static_cast<std::size_t>(last - first)};
}

EventId CallTree::cpu_op_above(const Trace& trace, EventId e) const {
  EventId at = parent_[e];
  while (at != kNoEvent && trace.events.category[at] != Category::kCpuOp)
    at = parent_[at];
  return at;
}

} // namespace rankscope
