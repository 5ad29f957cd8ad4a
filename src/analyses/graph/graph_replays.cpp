#include "analyses/graph/graph_replays.h"

#include "base/sort.h"
#include "core/graph_launch.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace rankscope {
namespace {

constexpr double kLeastShare = 0.8; ///< minimum fraction of a graph's kernels in an incomplete
                                    ///< launch

std::vector<EventId> sorted_by_start(const Trace& trace, std::vector<EventId> events) {
  sort_stably(events, [&trace](EventId a, EventId b) {
    return trace.events.ts_ns[a] != trace.events.ts_ns[b]
               ? trace.events.ts_ns[a] < trace.events.ts_ns[b]
               : a < b;
  });
  return events;
}

/// Returns the positions of `kernels` (ordered by start) stream by stream. Streams are in the order
/// of their first kernel.
std::vector<std::uint32_t> stream_order(const Trace& trace, const std::vector<EventId>& kernels) {
  std::map<std::int32_t, std::uint32_t> first;
  for (std::uint32_t i = 0; i < kernels.size(); ++i)
    first.emplace(trace.events.stream[kernels[i]], i);
  std::vector<std::uint32_t> out(kernels.size());
  std::iota(out.begin(), out.end(), 0U);
  sort_stably(out, [&](std::uint32_t a, std::uint32_t b) {
    return first[trace.events.stream[kernels[a]]] < first[trace.events.stream[kernels[b]]];
  });
  return out;
}

class Sorter {
public:
  Sorter(const LoadedTrace& t, KernelSymbols& symbols) : t_(t), symbols_(symbols) {}

  GraphReplays sort() {
    list();
    for (std::uint32_t r = 0; r < out_.replays.size(); ++r)
      if (const std::int64_t id = graph_id(out_.replays[r]); id != kNoId)
        by_id_[id].push_back(r);
      else if (!out_.replays[r].kernels.empty())
        group_by_names(r);
    for (const auto& [id, rows] : by_id_)
      take_ids(id, rows);
    take_names();
    in_order_of_launch();
    return std::move(out_);
  }

private:
  struct NamedGraph {
    std::vector<std::uint32_t> key;    ///< names and shapes in stream order
    std::vector<KernelToken> tokens;   ///< the kernels in the order of `key`
    std::vector<std::uint32_t> rows;   ///< replays with all kernels
    std::vector<std::uint32_t> partly; ///< replays with missing kernels
  };

  void list() {
    const Events& e = t_.trace.events;
    std::vector<signed char> is_launch(t_.trace.strings.size(), -1);
    for (EventId i = 0; i < e.size(); ++i) {
      if (!is_runtime(e.category[i]))
        continue;
      signed char& known = is_launch[e.name[i]];
      if (known < 0)
        known = launches_graph(t_.trace.name(i)) ? 1 : 0;
      if (known == 0 || in_another(i))
        continue;
      const auto gpu = t_.tree.gpu_events(i);
      GraphReplay replay;
      replay.launch = i;
      replay.kernels = sorted_by_start(t_.trace, {gpu.begin(), gpu.end()});
      replay.nodes.assign(replay.kernels.size(), 0);
      out_.replays.push_back(std::move(replay));
    }
    sort_stably(out_.replays, [&e](const auto& a, const auto& b) {
      return e.ts_ns[a.launch] < e.ts_ns[b.launch];
    });
  }

  /// Returns whether the launch is inside another launch: the driver's call below the runtime's
  /// call is not a separate launch.
  [[nodiscard]] bool in_another(EventId launch) const {
    for (EventId at = t_.tree.parent(launch); at != kNoEvent; at = t_.tree.parent(at))
      if (is_runtime(t_.trace.events.category[at]) && launches_graph(t_.trace.name(at)))
        return true;
    return false;
  }

  [[nodiscard]] std::int64_t graph_id(const GraphReplay& replay) const {
    std::int64_t id = kNoId;
    if (t_.trace.graph_nodes.empty())
      return id;
    for (const EventId k : replay.kernels) {
      const GraphNode* node = t_.trace.graph_node_of(k);
      if (node == nullptr || (id != kNoId && node->graph != id))
        return kNoId;
      id = node->graph;
    }
    return id;
  }

  void group_by_names(std::uint32_t row) {
    const GraphReplay& replay = out_.replays[row];
    NamedGraph graph;
    for (const std::uint32_t k : stream_order(t_.trace, replay.kernels)) {
      graph.tokens.push_back(symbols_.token(t_.trace, replay.kernels[k]));
      graph.key.push_back(graph.tokens.back().name);
      graph.key.push_back(graph.tokens.back().shape);
    }
    const auto [at, fresh] = known_.emplace(graph.key, named_.size());
    if (fresh)
      named_.push_back(std::move(graph));
    named_[at->second].rows.push_back(row);
  }

  std::uint32_t add(ReplayedGraph graph) {
    out_.graphs.push_back(std::move(graph));
    return static_cast<std::uint32_t>(out_.graphs.size() - 1);
  }

  /// Fills `by_start` with the nodes in the order of the replay with the most nodes.
  void order_by_start(ReplayedGraph& graph, const GraphReplay& fullest) const {
    std::vector<bool> seen(graph.nodes.size());
    for (const std::uint32_t node : fullest.nodes)
      if (!seen[node]) {
        seen[node] = true;
        graph.by_start.push_back(node);
      }
    for (std::uint32_t node = 0; node < graph.nodes.size(); ++node)
      if (!seen[node])
        graph.by_start.push_back(node); // these nodes are not in the fullest launch
  }

  void take_ids(std::int64_t id, const std::vector<std::uint32_t>& rows) {
    // the key contains the name too, because a graph update can give a node another kernel
    std::map<std::pair<std::int64_t, StrId>, std::uint32_t> places;
    ReplayedGraph graph;
    graph.id = id;
    graph.by_node_id = true;
    const auto key = [this](EventId k) {
      return std::pair(t_.trace.graph_node_of(k)->node, t_.trace.events.name[k]);
    };
    for (const std::uint32_t r : rows)
      for (const EventId k : out_.replays[r].kernels)
        places.emplace(key(k), k);
    for (auto& [node, place] : places) {
      graph.nodes.push_back(place);
      place = static_cast<std::uint32_t>(graph.nodes.size() - 1);
    }
    std::uint32_t fullest = rows.front();
    for (const std::uint32_t r : rows) {
      GraphReplay& replay = out_.replays[r];
      for (std::size_t k = 0; k < replay.kernels.size(); ++k)
        replay.nodes[k] = places.at(key(replay.kernels[k]));
      if (replay.kernels.size() > out_.replays[fullest].kernels.size())
        fullest = r;
    }
    order_by_start(graph, out_.replays[fullest]);
    enter(std::move(graph), rows);
  }

  /// Adds the graph with its replays, and counts the nodes that each replay lacks.
  void enter(ReplayedGraph graph, const std::vector<std::uint32_t>& rows) {
    graph.replays = rows.size();
    const std::size_t nodes = graph.nodes.size();
    for (const std::uint32_t r : rows) {
      GraphReplay& replay = out_.replays[r];
      replay.missing = nodes - std::min(nodes, replay.kernels.size());
      graph.incomplete += replay.missing > 0 ? 1 : 0;
    }
    const std::uint32_t row = add(std::move(graph));
    for (const std::uint32_t r : rows)
      out_.replays[r].graph = row;
  }

  /// Processes the longest graphs first, so that a launch with missing kernels finds its graph.
  void take_names() {
    const auto order = stable_order(named_.size(), [this](std::size_t a, std::size_t b) {
      return named_[a].tokens.size() > named_[b].tokens.size();
    });
    std::vector<std::size_t> complete;
    for (const std::size_t g : order) {
      NamedGraph* graph = nullptr;
      for (const std::size_t w : complete)
        if (lacks_some_of(named_[g].tokens, named_[w].tokens)) {
          graph = &named_[w];
          break;
        }
      if (graph != nullptr)
        graph->partly.insert(graph->partly.end(), named_[g].rows.begin(), named_[g].rows.end());
      else
        complete.push_back(g);
    }
    std::sort(complete.begin(), complete.end());
    for (const std::size_t g : complete)
      take_named(named_[g]);
  }

  static bool lacks_some_of(const std::vector<KernelToken>& part,
                            const std::vector<KernelToken>& complete) {
    if (part.size() >= complete.size() ||
        static_cast<double>(part.size()) < kLeastShare * static_cast<double>(complete.size()))
      return false;
    std::size_t at = 0;
    for (const KernelToken& token : complete)
      if (at < part.size() && part[at] == token)
        ++at;
    return at == part.size();
  }

  void take_named(NamedGraph& named) {
    ReplayedGraph graph;
    const GraphReplay& first = out_.replays[named.rows.front()];
    graph.nodes = first.kernels;
    graph.by_start.resize(graph.nodes.size());
    std::iota(graph.by_start.begin(), graph.by_start.end(), 0U);
    const std::vector<std::uint32_t> places = stream_order(t_.trace, first.kernels);
    for (const std::uint32_t r : named.rows) {
      GraphReplay& replay = out_.replays[r];
      const std::vector<std::uint32_t> order = stream_order(t_.trace, replay.kernels);
      for (std::size_t k = 0; k < order.size(); ++k)
        replay.nodes[order[k]] = places[k];
    }
    for (const std::uint32_t r : named.partly) {
      GraphReplay& replay = out_.replays[r];
      const std::vector<std::uint32_t> order = stream_order(t_.trace, replay.kernels);
      std::vector<KernelToken> tokens;
      for (const std::uint32_t k : order)
        tokens.push_back(symbols_.token(t_.trace, replay.kernels[k]));
      const KernelAlignment found = align_kernels(tokens, named.tokens);
      for (std::size_t k = 0; k < order.size(); ++k)
        replay.nodes[order[k]] = places[found.partner[k] == kNoPartner ? 0 : found.partner[k]];
    }
    std::vector<std::uint32_t> rows = named.rows;
    rows.insert(rows.end(), named.partly.begin(), named.partly.end());
    enter(std::move(graph), rows);
  }

  void in_order_of_launch() {
    std::vector<std::uint32_t> number(out_.graphs.size(), kNoRow);
    std::vector<ReplayedGraph> graphs;
    for (GraphReplay& replay : out_.replays) {
      if (replay.graph == kNoRow)
        continue;
      std::uint32_t& n = number[replay.graph];
      if (n == kNoRow) {
        n = static_cast<std::uint32_t>(graphs.size());
        graphs.push_back(std::move(out_.graphs[replay.graph]));
      }
      replay.graph = n;
    }
    out_.graphs = std::move(graphs);
  }

  const LoadedTrace& t_;
  KernelSymbols& symbols_;
  GraphReplays out_;
  std::map<std::int64_t, std::vector<std::uint32_t>> by_id_;
  std::map<std::vector<std::uint32_t>, std::size_t> known_;
  std::vector<NamedGraph> named_;
};

} // namespace

bool has_graph_launches(const Trace& trace) {
  for (StrId id = 0; id < trace.strings.size(); ++id)
    if (launches_graph(trace.strings.view(id)))
      return true;
  return false;
}

GraphReplays find_graph_replays(const LoadedTrace& trace, KernelSymbols& symbols) {
  if (!has_graph_launches(trace.trace))
    return {};
  return Sorter(trace, symbols).sort();
}

} // namespace rankscope
