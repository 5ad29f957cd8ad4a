#include "analyses/inference/graph_template.h"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::uint64_t kHighestUid = 0xfffffffeU;

/// For each event of the capture: its position in `root.below`, and whether a call below it has a
/// kernel.
struct Needed {
  Needed(const LoadedTrace& t, const CaptureRoot& root, const GraphAlignment& alignment)
      : place(t.trace.events.size(), kNoRow), kernel(t.trace.events.size(), kNoRow),
        wanted(t.trace.events.size()) {
    for (std::uint32_t i = 0; i < root.below.size(); ++i)
      place[root.below[i]] = i;
    for (std::uint32_t k = 0; k < alignment.call_of.size(); ++k) {
      if (alignment.call_of[k] == kNoRow)
        continue;
      const EventId call = root.dispatches[alignment.call_of[k]];
      kernel[call] = k;
      for (EventId at = call; at != kNoEvent && place[at] != kNoRow && !wanted[at];
           at = t.tree.parent(at))
        wanted[at] = true;
    }
  }
  std::vector<std::uint32_t> place;
  std::vector<std::uint32_t> kernel;
  std::vector<bool> wanted;
};

void list_children(GraphTemplate& out) {
  out.child_begin.assign(out.nodes.size() + 1, 0);
  for (std::size_t i = 1; i < out.nodes.size(); ++i)
    ++out.child_begin[out.nodes[i].parent + 1];
  for (std::size_t i = 1; i < out.child_begin.size(); ++i)
    out.child_begin[i] += out.child_begin[i - 1];
  out.children.resize(out.child_begin.back());
  std::vector<std::uint32_t> next(out.child_begin.begin(), out.child_begin.end() - 1);
  for (std::uint32_t i = 1; i < out.nodes.size(); ++i)
    out.children[next[out.nodes[i].parent]++] = i;
}

} // namespace

StrId CaptureTexts::text(StrId id) {
  if (texts_.empty())
    texts_.assign(capture_.strings.size(), kNoRow);
  if (texts_[id] == kNoRow)
    texts_[id] = to_.text(capture_.strings.view(id));
  return texts_[id];
}

std::uint32_t CaptureTexts::args_of(EventId e) {
  const OpArgs* const args = capture_.op(e);
  if (args == nullptr)
    return kNoRow;
  if (args_.empty())
    args_.assign(capture_.op_args.size(), kNoRow);
  std::uint32_t& row = args_[capture_.events.args[e]];
  if (row == kNoRow) {
    OpArgs copy = *args;
    for (StrId* id : {&copy.input_dims, &copy.input_types, &copy.input_strides,
                      &copy.concrete_inputs, &copy.kernel_file})
      *id = text(*id);
    row = to_.op_args(copy);
  }
  return row;
}

std::uint32_t CaptureTexts::track_of(EventId e) {
  Track track = capture_.tracks[capture_.events.track[e]];
  track.pid_text = text(track.pid_text);
  track.tid_text = text(track.tid_text);
  // these are names of the capture's file
  track.process_name = track.process_label = track.thread_name = kEmptyStr;
  return to_.track(track);
}

GraphTemplate make_graph_template(const LoadedTrace& capture, const CaptureRoot& root,
                                  const GraphAlignment& alignment, const GraftOptions& options,
                                  CaptureTexts& texts, TraceBuilder& to) {
  const Events& e = capture.trace.events;
  const Needed needed(capture, root, alignment);
  GraphTemplate out;
  out.recorded = static_cast<std::uint32_t>(root.below.size()) + 1;
  GraphTemplate::Node top;
  top.name = to.text("CaptureRoot");
  top.dur_ns = root.end_ns - root.start_ns;
  out.nodes.push_back(top);

  std::vector<std::pair<EventId, std::uint32_t>> stack; // (event, node of its parent)
  const auto push = [&](std::span<const EventId> list, std::uint32_t parent) {
    for (auto it = list.rbegin(); it != list.rend(); ++it)
      if (needed.wanted[*it])
        stack.emplace_back(*it, parent);
  };
  std::vector<EventId> outermost = root.children;
  sort_by_start(e, outermost);
  push(outermost, 0);
  while (!stack.empty()) {
    const auto [event, parent] = stack.back();
    stack.pop_back();
    GraphTemplate::Node node;
    node.name = texts.text(e.name[event]);
    node.args = texts.args_of(event);
    node.category = e.category[event];
    node.dur_ns = e.dur_ns[event];
    if (options.as_reference)
      node.track = texts.track_of(event);
    node.parent = parent;
    node.place = needed.place[event] + 1;
    node.kernel = needed.kernel[event];
    push(capture.tree.children(event), static_cast<std::uint32_t>(out.nodes.size()));
    out.nodes.push_back(node);
  }
  if (out.nodes.size() > 1)
    out.nodes[0].track = out.nodes[1].track;
  list_children(out);
  for (std::uint32_t k = 0; k < alignment.call_of.size(); ++k)
    if (alignment.call_of[k] == kNoRow)
      out.without_call.push_back(k);
  return out;
}

std::uint64_t put_graph(const GraphTemplate& graph, EventId launch,
                        std::span<const EventId> kernels, std::span<const EventId> below,
                        std::uint64_t uid, const GraftOptions& options, TraceBuilder& to,
                        TreeChanges& changes) {
  const EventRow call = to.so_far().events.row(launch);
  const auto first = static_cast<EventId>(to.events());
  std::vector<EventId> list;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphTemplate::Node& node = graph.nodes[i];
    EventRow row;
    row.ts_ns = call.ts_ns;
    row.dur_ns = options.as_reference ? call.dur_ns : node.dur_ns;
    if (!usable_time(row.ts_ns, row.dur_ns))
      row.dur_ns = call.dur_ns;
    row.name = node.name;
    row.args = node.args;
    row.category = node.category;
    row.track = options.as_reference ? node.track : call.track;
    row.uid = static_cast<std::uint32_t>(
        std::min(uid + (options.as_reference ? node.place : i), kHighestUid));
    row.source = graph.source;
    (void)to.add(row);
    list.clear();
    for (std::uint32_t c = graph.child_begin[i]; c < graph.child_begin[i + 1]; ++c)
      list.push_back(first + graph.children[c]);
    if (node.kernel != kNoRow) {
      list.push_back(kernels[node.kernel]);
      changes.parent(kernels[node.kernel], first + i);
    }
    changes.children(first + i, list);
    changes.parent(first + i, i == 0 ? launch : first + node.parent);
  }
  list.assign(below.begin(), below.end());
  list.push_back(first);
  for (const std::uint32_t k : graph.without_call)
    list.push_back(kernels[k]);
  changes.children(launch, list);
  return uid + (options.as_reference ? graph.recorded : graph.nodes.size());
}

} // namespace rankscope
