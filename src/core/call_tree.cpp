#include "core/call_tree.h"

#include <algorithm>
#include <cctype>

namespace rankscope {
namespace {

bool contains_launch(std::string_view name) {
  constexpr std::string_view kWord = "launch";
  return std::search(name.begin(), name.end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

/// (key, event) pairs sorted by key, then file order.
using KeyIndex = std::vector<std::pair<std::int64_t, EventId>>;

void sort_index(KeyIndex& index) {
  if (!std::is_sorted(index.begin(), index.end()))
    std::sort(index.begin(), index.end());
}

std::span<const std::pair<std::int64_t, EventId>> range_of(const KeyIndex& index,
                                                           std::int64_t key) {
  const auto first = std::lower_bound(index.begin(), index.end(), std::make_pair(key, EventId{0}));
  auto last = first;
  while (last != index.end() && last->first == key)
    ++last;
  return {first, last};
}

/// Which id links launches to GPU work: correlation, unless the first launch in the file lacks it
/// (docs/reference/report-rules.md 3, step 1).
bool links_by_correlation(const Trace& trace) {
  const Events& e = trace.events;
  std::vector<signed char> is_launch(trace.strings.size(), -1);
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]))
      continue;
    signed char& known = is_launch[e.name[i]];
    if (known < 0)
      known = contains_launch(trace.name(i)) ? 1 : 0;
    if (known == 1)
      return e.correlation[i] != kNoId;
  }
  return false;
}

/// The GPU event that each runtime event launched, one per call; graph launches have many.
struct Launches {
  std::vector<std::pair<EventId, EventId>> pairs; ///< (runtime, gpu), sorted by runtime
};

Launches find_launches(const Trace& trace) {
  const Events& e = trace.events;
  const bool by_correlation = links_by_correlation(trace);
  const std::vector<std::int64_t>& keys = by_correlation ? e.correlation : e.external_id;
  KeyIndex gpu;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]) && keys[i] != kNoId)
      gpu.emplace_back(keys[i], i);
  sort_index(gpu);

  // flows by id: a start must exist; of several ends the last counts (step 2)
  KeyIndex starts;
  KeyIndex ends;
  for (std::uint32_t f = 0; f < trace.flows.size(); ++f) {
    if (trace.flows.kind[f] == FlowKind::kAc2gStart)
      starts.emplace_back(trace.flows.id[f], f);
    else if (trace.flows.kind[f] == FlowKind::kAc2gEnd)
      ends.emplace_back(trace.flows.id[f], f);
  }
  sort_index(starts);
  sort_index(ends);
  // a trace without any ac2g flow was written without them: its ids must do
  const bool need_flows = !starts.empty() || !ends.empty();

  const StrId cuda_graph = trace.strings.find("cudaGraphLaunch");
  const StrId hip_graph = trace.strings.find("hipGraphLaunch");
  Launches out;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]) || keys[i] == kNoId)
      continue;
    const auto candidates = range_of(gpu, keys[i]);
    if (candidates.empty())
      continue;
    if (e.name[i] == cuda_graph || e.name[i] == hip_graph) {
      for (const auto& [key, event] : candidates)
        out.pairs.emplace_back(i, event);
      continue;
    }
    if (!need_flows) {
      out.pairs.emplace_back(i, candidates.back().second);
      continue;
    }
    const auto flow_ends = range_of(ends, keys[i]);
    if (flow_ends.empty() || range_of(starts, keys[i]).empty())
      continue;
    const std::uint32_t track = trace.flows.track[flow_ends.back().second];
    for (auto it = candidates.rbegin(); it != candidates.rend(); ++it)
      if (e.track[it->second] == track) {
        out.pairs.emplace_back(i, it->second);
        break;
      }
  }
  return out;
}

} // namespace

CallTree CallTree::build(const Trace& trace, const CallTreeOptions& options) {
  const Events& e = trace.events;
  const auto n = static_cast<EventId>(e.size());
  CallTree tree;
  tree.parent_.assign(n, kNoEvent);
  tree.linked_.assign(n, false);
  tree.gpu_first_.assign(n, 0);
  tree.gpu_last_.assign(n, 0);

  const Launches launches = find_launches(trace);
  for (const auto& [runtime, gpu] : launches.pairs) {
    tree.parent_[gpu] = runtime; // two launches of one kernel: the later one is its parent
    tree.linked_[gpu] = true;
  }
  for (EventId i = 0; i < n; ++i)
    if (is_gpu(e.category[i])) {
      ++tree.gpu_total_;
      tree.gpu_linked_ += tree.linked_[i] ? 1 : 0;
    }

  // events of each CPU thread in time order, ties in file order
  const auto on_cpu = [&](EventId i) {
    const Category c = e.category[i];
    return c == Category::kCpuOp || is_runtime(c) ||
           (options.include_python && c == Category::kPythonFunction);
  };
  std::vector<std::uint32_t> begin(trace.tracks.size() + 1, 0);
  for (EventId i = 0; i < n; ++i)
    if (on_cpu(i))
      ++begin[e.track[i] + 1];
  for (std::size_t t = 1; t < begin.size(); ++t)
    begin[t] += begin[t - 1];
  std::vector<EventId> order(begin.back());
  {
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (EventId i = 0; i < n; ++i)
      if (on_cpu(i))
        order[next[e.track[i]]++] = i;
  }

  std::vector<EventId> in_tree;
  in_tree.reserve(order.size());
  std::vector<EventId> dropped;
  const auto take_gpu = [&](EventId runtime) {
    auto it = std::lower_bound(launches.pairs.begin(), launches.pairs.end(),
                               std::make_pair(runtime, EventId{0}));
    for (; it != launches.pairs.end() && it->first == runtime; ++it)
      tree.gpu_order_.push_back(it->second);
  };
  std::vector<EventId> stack;
  for (std::size_t t = 0; t + 1 < begin.size(); ++t) {
    const auto first = order.begin() + begin[t];
    const auto last = order.begin() + begin[t + 1];
    const auto by_time = [&e](EventId a, EventId b) { return e.ts_ns[a] < e.ts_ns[b]; };
    if (!std::is_sorted(first, last, by_time))
      std::stable_sort(first, last, by_time);
    stack.clear();
    std::size_t cpu_ops_open = 0;
    const auto pop = [&] {
      const EventId top = stack.back();
      stack.pop_back();
      tree.gpu_last_[top] = static_cast<std::uint32_t>(tree.gpu_order_.size());
      cpu_ops_open -= e.category[top] == Category::kCpuOp ? 1 : 0;
    };
    for (auto it = first; it != last; ++it) {
      const EventId ev = *it;
      const std::int64_t start = e.ts_ns[ev];
      const std::int64_t end = start + e.dur_ns[ev];
      while (!stack.empty() && start >= trace.end_ns(stack.back()))
        pop();
      if (!stack.empty() && end > trace.end_ns(stack.back())) {
        // a child that outlives its parent: a bleed of under 1 us goes to the next frame, more
        // drops it from the tree (section 4)
        if (trace.end_ns(stack.back()) - start < 1000 && stack.size() >= 2) {
          pop();
        } else {
          dropped.push_back(ev);
          continue;
        }
      }
      if (!stack.empty())
        tree.parent_[ev] = stack.back();
      if (e.category[ev] == Category::kCpuOp && cpu_ops_open == 0)
        tree.cpu_roots_.push_back(ev);
      stack.push_back(ev);
      cpu_ops_open += e.category[ev] == Category::kCpuOp ? 1 : 0;
      in_tree.push_back(ev);
      tree.gpu_first_[ev] = static_cast<std::uint32_t>(tree.gpu_order_.size());
      if (is_runtime(e.category[ev]))
        take_gpu(ev);
    }
    while (!stack.empty())
      pop();
  }
  for (const EventId ev : dropped) { // still the parent of what it launched
    tree.gpu_first_[ev] = static_cast<std::uint32_t>(tree.gpu_order_.size());
    if (is_runtime(e.category[ev]))
      take_gpu(ev);
    tree.gpu_last_[ev] = static_cast<std::uint32_t>(tree.gpu_order_.size());
  }
  std::stable_sort(tree.cpu_roots_.begin(), tree.cpu_roots_.end(), [&e](EventId a, EventId b) {
    return e.ts_ns[a] != e.ts_ns[b] ? e.ts_ns[a] < e.ts_ns[b] : a < b;
  });

  // children, CPU events in stack order, then what a runtime call launched
  tree.child_begin_.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const EventId ev : in_tree)
    if (tree.parent_[ev] != kNoEvent)
      ++tree.child_begin_[tree.parent_[ev] + 1];
  for (const auto& [runtime, gpu] : launches.pairs)
    ++tree.child_begin_[runtime + 1];
  for (std::size_t i = 1; i < tree.child_begin_.size(); ++i)
    tree.child_begin_[i] += tree.child_begin_[i - 1];
  tree.children_.resize(tree.child_begin_.back());
  {
    std::vector<std::uint32_t> next(tree.child_begin_.begin(), tree.child_begin_.end() - 1);
    for (const EventId ev : in_tree)
      if (tree.parent_[ev] != kNoEvent)
        tree.children_[next[tree.parent_[ev]]++] = ev;
    for (const auto& [runtime, gpu] : launches.pairs)
      tree.children_[next[runtime]++] = gpu;
  }

  // forward and backward by sequence number (section 5)
  KeyIndex sequence;
  for (EventId i = 0; i < n; ++i)
    if (const OpArgs* op = trace.op(i); op != nullptr && op->sequence_number != kNoId)
      sequence.emplace_back(op->sequence_number, i);
  sort_index(sequence);
  constexpr std::string_view kWrapper = "autograd::engine::evaluate_function:";
  for (std::size_t i = 0; i < sequence.size();) {
    std::size_t last = i;
    EventId wrapper = kNoEvent;
    for (; last < sequence.size() && sequence[last].first == sequence[i].first; ++last)
      if (wrapper == kNoEvent &&
          trace.name(sequence[last].second).substr(0, kWrapper.size()) == kWrapper)
        wrapper = sequence[last].second;
    EventId forward = kNoEvent;
    if (wrapper != kNoEvent)
      for (std::size_t k = i; k < last; ++k) {
        const EventId ev = sequence[k].second;
        if (e.track[ev] != e.track[wrapper] &&
            (forward == kNoEvent || e.ts_ns[ev] > e.ts_ns[forward]))
          forward = ev;
      }
    if (forward != kNoEvent) {
      tree.forward_of_.emplace_back(wrapper, forward);
      tree.backward_of_.emplace_back(forward, wrapper);
    }
    i = last;
  }
  std::sort(tree.forward_of_.begin(), tree.forward_of_.end());
  std::stable_sort(tree.backward_of_.begin(), tree.backward_of_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [forward, wrapper] : tree.backward_of_)
    tree.backward_list_.push_back(wrapper);
  return tree;
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
