#include "analyses/job/job_graph.h"

#include "base/sort.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rankscope {
namespace {

/// The wait that decides when a node begins, and the resulting time.
struct Binding {
  const Wait* wait = nullptr; ///< nullptr: the node waits for nothing
  std::int64_t ready_ns = 0;
};

/// Returns the deciding wait of a node; among equal waits, the first one. `end(node)`: the end in
/// the replay.
template <class End>
Binding binding_of(const JobGraph& graph, const JobEdit& edit, NodeId n, const End& end) {
  Binding out;
  for (const Wait& wait : graph.waits(n)) {
    if (!edit.without.empty() && (edit.without[n] & JobEdit::bit_of(wait.kind())) != 0)
      continue;
    const std::int64_t at = end(wait.from) + wait.lag_ns();
    if (out.wait == nullptr || at > out.ready_ns)
      out = {&wait, at};
  }
  return out;
}

} // namespace

std::int64_t JobGraph::makespan_ns() const {
  std::int64_t last = 0;
  for (NodeId n = 0; n < size(); ++n)
    last = std::max(last, end_ns(n));
  return last;
}

void JobGraph::replay(const JobEdit& edit) {
  start_ns_ = replay_starts(*this, edit);
  dur_ns_ = edit.dur_ns;
}

NodeId JobGraphBuilder::add(std::int64_t start_ns, std::int64_t dur_ns) {
  start_ns_.push_back(start_ns);
  dur_ns_.push_back(dur_ns);
  return static_cast<NodeId>(start_ns_.size() - 1);
}

std::vector<NodeId> JobGraphBuilder::start_order() const {
  std::vector<NodeId> order(start_ns_.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  sort_stably(order, [this](NodeId a, NodeId b) { return start_ns_[a] < start_ns_[b]; });
  return order;
}

/// Returns the nodes in an order in which waits are met. Nodes without waits are first, ordered by
/// start. Each other node follows when all nodes that it waits for have a position. Nodes in a
/// circle are last.
std::vector<NodeId> JobGraphBuilder::wait_order() const {
  const std::size_t n = start_ns_.size();
  std::vector<std::uint32_t> missing(n, 0), first(n + 1, 0);
  for (const NodeWait& w : waits_) {
    ++missing[w.node];
    ++first[w.from + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<NodeId> after(waits_.size());
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
  for (const NodeWait& w : waits_)
    after[at[w.from]++] = w.node;
  const std::vector<NodeId> begin = start_order();
  std::vector<NodeId> order;
  order.reserve(n);
  std::vector<bool> placed(n, false);
  const auto place = [&](NodeId node) {
    order.push_back(node);
    placed[node] = true;
  };
  for (const NodeId node : begin)
    if (missing[node] == 0)
      place(node);
  for (std::size_t k = 0; k < order.size(); ++k)
    for (std::uint32_t w = first[order[k]]; w < first[order[k] + 1]; ++w)
      if (--missing[after[w]] == 0)
        place(after[w]);
  for (const NodeId node : begin)
    if (!placed[node])
      order.push_back(node);
  return order;
}

JobGraph JobGraphBuilder::built(Trust trust) {
  const std::size_t n = start_ns_.size();
  std::vector<NodeId> order = trust == Trust::kTimes ? start_order() : wait_order();
  numbers_.assign(n, kNoNode);
  JobGraph graph;
  graph.start_ns_.reserve(n);
  graph.dur_ns_.reserve(n);
  const std::int64_t origin = n == 0 ? 0 : *std::ranges::min_element(start_ns_);
  for (std::size_t k = 0; k < n; ++k) {
    numbers_[order[k]] = static_cast<NodeId>(k);
    graph.start_ns_.push_back(start_ns_[order[k]] - origin);
    graph.dur_ns_.push_back(dur_ns_[order[k]]);
  }
  release(start_ns_);
  release(dur_ns_);
  release(order);
  // counts the waits of each node, then places them
  graph.first_wait_.assign(n + 1, 0);
  const auto holds = [this](const NodeWait& w) { return numbers_[w.from] < numbers_[w.node]; };
  for (const NodeWait& w : waits_) {
    if (holds(w))
      ++graph.first_wait_[numbers_[w.node] + 1];
    else
      ++graph.contradicted_;
  }
  std::partial_sum(graph.first_wait_.begin(), graph.first_wait_.end(), graph.first_wait_.begin());
  graph.waits_.resize(graph.first_wait_.back());
  for (const NodeWait& w : waits_)
    if (holds(w))
      graph.waits_[graph.first_wait_[numbers_[w.node]]++] = {numbers_[w.from], w.kind(),
                                                             w.lag_ns()};
  // the first wait of each node is now that of the next one
  std::shift_right(graph.first_wait_.begin(), graph.first_wait_.end(), 1);
  graph.first_wait_.front() = 0;
  release(waits_);
  graph.delay_ns_.reserve(n);
  const auto end = [&graph](NodeId node) { return graph.end_ns(node); };
  for (NodeId k = 0; k < n; ++k) {
    const std::int64_t delay = graph.start_ns_[k] - binding_of(graph, {}, k, end).ready_ns;
    const bool is_long = delay < INT32_MIN || delay >= JobGraph::kLongDelay;
    graph.delay_ns_.push_back(is_long ? JobGraph::kLongDelay : static_cast<std::int32_t>(delay));
    if (is_long)
      graph.long_delays_.emplace(k, delay);
  }
  return graph;
}

JobEdit JobEdit::of(const JobGraph& graph) {
  JobEdit edit;
  edit.dur_ns.reserve(graph.size());
  for (NodeId n = 0; n < graph.size(); ++n)
    edit.dur_ns.push_back(graph.dur_ns(n));
  return edit;
}

std::int64_t& JobEdit::delay(const JobGraph& graph, NodeId n) {
  if (delay_ns.empty()) {
    delay_ns.reserve(graph.size());
    for (NodeId k = 0; k < graph.size(); ++k)
      delay_ns.push_back(graph.delay_ns(k));
  }
  return delay_ns[n];
}

void JobEdit::leave_out(const JobGraph& graph, NodeId n, WaitKind kind) {
  without.resize(graph.size());
  without[n] |= bit_of(kind);
}

std::vector<std::int64_t> replay_starts(const JobGraph& graph, const JobEdit& edit) {
  std::vector<std::int64_t> start(graph.size());
  const auto end = [&](NodeId n) { return start[n] + edit.duration(graph, n); };
  for (NodeId n = 0; n < graph.size(); ++n)
    start[n] = binding_of(graph, edit, n, end).ready_ns +
               (edit.delay_ns.empty() ? graph.delay_ns(n) : edit.delay_ns[n]);
  return start;
}

std::int64_t replay_makespan(const JobGraph& graph, const JobEdit& edit) {
  const std::vector<std::int64_t> start = replay_starts(graph, edit);
  std::int64_t last = 0;
  for (NodeId n = 0; n < graph.size(); ++n)
    last = std::max(last, start[n] + edit.duration(graph, n));
  return last;
}

std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit) {
  if (graph.size() == 0)
    return {};
  const std::vector<std::int64_t> start = replay_starts(graph, edit);
  const auto end = [&](NodeId n) { return start[n] + edit.duration(graph, n); };
  NodeId last = 0;
  for (NodeId n = 1; n < graph.size(); ++n)
    if (end(n) > end(last))
      last = n;
  return critical_path(graph, edit, start, last);
}

std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit,
                                     std::span<const std::int64_t> start, NodeId last,
                                     std::int64_t from_ns) {
  std::vector<PathPiece> out;
  const auto end = [&](NodeId n) { return start[n] + edit.duration(graph, n); };
  NodeId at = last;
  // Time after `until` is done. If a delay is negative, the activity begins before its wait ends.
  // The path then continues in the activity that it waits for, up to its own start.
  std::int64_t until = end(at);
  const auto piece = [&](std::int64_t begin, PathPiece::Kind kind, WaitKind wait_kind, bool first) {
    if (begin >= until)
      return;
    out.push_back({at, begin, until, kind, wait_kind, first});
    until = begin;
  };
  while (until > from_ns) {
    const Binding binding = binding_of(graph, edit, at, end);
    piece(start[at], PathPiece::Kind::kActivity, WaitKind::kStream, false);
    if (binding.wait == nullptr) {
      piece(0, PathPiece::Kind::kDelay, WaitKind::kStream, true);
      break;
    }
    piece(binding.ready_ns, PathPiece::Kind::kDelay, binding.wait->kind(), false);
    piece(binding.ready_ns - binding.wait->lag_ns(), PathPiece::Kind::kLag, binding.wait->kind(),
          false);
    at = binding.wait->from;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

void clear_delays(const JobGraph& graph, JobEdit& edit) {
  for (NodeId n = 0; n < graph.size(); ++n)
    if (!graph.waits(n).empty())
      edit.delay(graph, n) = 0;
}

double JobGraphQuality::unexplained_percent() const {
  return path_ns == 0 ? 0
                      : 100.0 * static_cast<double>(unexplained_ns + inferred_ns) /
                            static_cast<double>(path_ns);
}

double JobGraphQuality::without_delays_percent() const {
  return makespan_ns == 0 ? 0
                          : 100.0 * std::abs(static_cast<double>(without_delays_ns) /
                                                 static_cast<double>(makespan_ns) -
                                             1.0);
}

JobGraphQuality quality_of(const JobGraph& graph, std::span<const PathPiece> path) {
  JobGraphQuality out;
  out.makespan_ns = graph.makespan_ns();
  out.contradicted = graph.contradicted();
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.delay_ns(n) < 0) {
      ++out.negative;
      out.negative_ns -= graph.delay_ns(n);
    }
  }
  JobEdit edit;
  clear_delays(graph, edit);
  out.without_delays_ns = replay_makespan(graph, edit);
  for (const PathPiece& piece : path) {
    out.path_ns += piece.end_ns - piece.begin_ns;
    if (piece.kind == PathPiece::Kind::kDelay && !piece.first)
      out.unexplained_ns += piece.end_ns - piece.begin_ns;
    else if (piece.kind == PathPiece::Kind::kLag && is_inferred(piece.wait_kind))
      out.inferred_ns += piece.end_ns - piece.begin_ns;
  }
  return out;
}

} // namespace rankscope
