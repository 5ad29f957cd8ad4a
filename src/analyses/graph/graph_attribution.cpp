#include "analyses/graph/graph_attribution.h"

#include "analyses/graph/sequence_attribution.h"
#include "analyses/timeline/inference_steps.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr std::size_t kMostDonors = 3; ///< maximum number of donors that are aligned with one graph

std::size_t at(Attribution a) {
  return static_cast<std::size_t>(a);
}

/// The attribution of a graph's nodes; it applies to every replay of the graph.
struct GraphGuess {
  std::vector<NodeGuess> nodes;
  std::vector<Attribution> how;
  KernelPeriod period;
  std::string donor;
  std::int64_t weight = -1;
};

class Attributor {
public:
  Attributor(const LoadedTrace& t, const LoadedTrace* donor) : t_(t), donor_(donor) {}

  GraphAttribution attribute() {
    out_.graphs = find_graph_replays(t_, symbols_);
    take_captures();
    find_donors();
    for (std::size_t g = 0; g < guesses_.size(); ++g)
      align(out_.graphs.graphs[g], guesses_[g]);
    take_nodes();
    count_losses();
    out_.operators = ops_.all();
    return std::move(out_);
  }

private:
  /// Uses the operators that a merge with captures inserted between the launch and its kernels.
  void take_captures() {
    for (const ReplayedGraph& graph : out_.graphs.graphs) {
      GraphGuess& guess = guesses_.emplace_back();
      guess.nodes.resize(graph.nodes.size());
      guess.how.assign(graph.nodes.size(), Attribution::kNone);
    }
    for (const GraphLaunch& launch : t_.graph_launches)
      matches_[launch.launch] = &launch;
    for (const GraphReplay& replay : out_.graphs.replays) {
      if (replay.graph == kNoRow)
        continue;
      const double confidence = capture_confidence(replay.launch);
      GraphGuess& guess = guesses_[replay.graph];
      for (std::size_t k = 0; k < replay.kernels.size(); ++k) {
        NodeGuess& node = guess.nodes[replay.nodes[k]];
        if (t_.tree.parent(replay.kernels[k]) == replay.launch || node.confidence >= confidence)
          continue;
        const std::uint32_t op = ops_.above(t_, replay.kernels[k]);
        if (op == kNoRow)
          continue;
        node = {op, confidence, true};
        guess.how[replay.nodes[k]] = Attribution::kCapture;
      }
    }
  }

  /// Returns 1.0; or 0.95 if the order of the kernels had to be repaired; or 0.5 if a call of the
  /// capture has no kernel name.
  [[nodiscard]] double capture_confidence(EventId launch) const {
    const auto known = matches_.find(launch);
    if (known == matches_.end())
      return 1.0;
    const GraphLaunch& l = *known->second;
    if (l.unchecked)
      return 0.5;
    return l.match == GraphMatch::kPosition || l.match == GraphMatch::kStreams ? 1.0 : 0.95;
  }

  [[nodiscard]] static bool all_known(const GraphGuess& guess) {
    return std::ranges::all_of(guess.how, [](Attribution a) { return a != Attribution::kNone; });
  }

  void find_donors() {
    if (std::all_of(guesses_.begin(), guesses_.end(), all_known))
      return;
    donors_ = eager_sequences(t_, "", symbols_, ops_);
    if (donor_ != nullptr) {
      const std::string label = donor_->trace.path + ": ";
      for (DonorSequence& d : eager_sequences(*donor_, label, symbols_, ops_))
        donors_.push_back(std::move(d));
      for (DonorSequence& d : captured_sequences(*donor_, label, symbols_, ops_))
        donors_.push_back(std::move(d));
    }
    for (std::size_t g = 0; g < guesses_.size(); ++g)
      if (all_known(guesses_[g]))
        donors_.push_back(donor_of(g));
  }

  /// Returns a graph with the operators from its capture as a donor.
  DonorSequence donor_of(std::size_t g) {
    const ReplayedGraph& graph = out_.graphs.graphs[g];
    DonorSequence out{fmt::format("graph {}", g + 1), symbols_.tokens(t_.trace, graph.nodes), {}};
    for (const NodeGuess& node : guesses_[g].nodes)
      out.ops.push_back(node.op);
    return out;
  }

  void align(const ReplayedGraph& graph, GraphGuess& guess) {
    if (graph.nodes.empty() || all_known(guess))
      return;
    const std::vector<KernelToken> tokens = symbols_.tokens(t_.trace, graph.nodes);
    guess.period = find_period(tokens);
    std::vector<std::uint32_t> as_they_are(tokens.size());
    std::iota(as_they_are.begin(), as_they_are.end(), 0U);
    std::vector<std::pair<std::int64_t, const DonorSequence*>> likely;
    for (const DonorSequence& d : donors_)
      if (const std::int64_t most = most_weight(tokens, d.kernels); most > 0)
        likely.emplace_back(most, &d);
    sort_stably(likely, [](const auto& a, const auto& b) { return a.first > b.first; });
    if (likely.size() > 2 * kMostDonors) // each step has up to two orders
      likely.resize(2 * kMostDonors);
    std::vector<std::uint32_t> names(ops_.all().size());
    for (std::uint32_t op = 0; op < names.size(); ++op)
      names[op] = ops_.name_of(op);
    for (const auto& [most, donor] : likely) {
      if (most <= guess.weight)
        continue;
      try_order(graph, as_they_are, tokens, *donor, names, guess);
      if (graph.by_start != as_they_are)
        try_order(graph, graph.by_start, tokens, *donor, names, guess);
    }
  }

  /// Uses the donor's operators if this donor fits better than all earlier donors.
  static void try_order(const ReplayedGraph& graph, const std::vector<std::uint32_t>& order,
                        const std::vector<KernelToken>& tokens, const DonorSequence& donor,
                        const std::vector<std::uint32_t>& names, GraphGuess& guess) {
    std::vector<KernelToken> ordered;
    ordered.reserve(order.size());
    for (const std::uint32_t node : order)
      ordered.push_back(tokens[node]);
    const SequenceGuess found = guess_operators(ordered, donor.kernels, donor.ops, names);
    if (found.weight <= guess.weight)
      return;
    guess.weight = found.weight;
    guess.donor = donor.label;
    guess.period = found.period;
    const Attribution how =
        found.identical && graph.by_node_id ? Attribution::kGraphNode : Attribution::kAligned;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const std::uint32_t node = order[n];
      if (guess.how[node] == Attribution::kCapture)
        continue;
      guess.nodes[node] = found.nodes[n];
      guess.how[node] = found.nodes[n].op == kNoRow ? Attribution::kNone : how;
    }
  }

  void take_nodes() {
    const Events& e = t_.trace.events;
    out_.facts.resize(guesses_.size());
    double confident_ns = 0;
    std::vector<double> sure(guesses_.size(), 0);
    std::vector<std::optional<KernelFamily>> families(t_.trace.strings.size());
    for (std::uint32_t r = 0; r < out_.graphs.replays.size(); ++r) {
      const GraphReplay& replay = out_.graphs.replays[r];
      if (replay.graph == kNoRow)
        continue;
      const GraphGuess& guess = guesses_[replay.graph];
      GraphFacts& facts = out_.facts[replay.graph];
      for (std::size_t k = 0; k < replay.kernels.size(); ++k) {
        const EventId event = replay.kernels[k];
        const NodeGuess& node = guess.nodes[replay.nodes[k]];
        const Attribution how = guess.how[replay.nodes[k]];
        std::optional<KernelFamily>& family = families[e.name[event]];
        if (!family)
          family = kernel_family(t_.trace.name(event));
        out_.kernels.push_back({event, r, node.op, node.confidence, how, *family, node.same_shape});
        const std::int64_t ns = e.dur_ns[event];
        facts.total_ns += ns;
        facts.ns[at(how)] += ns;
        sure[replay.graph] += node.confidence * static_cast<double>(ns);
        if (how == Attribution::kAligned)
          confident_ns += node.confidence * static_cast<double>(ns);
        if (how == Attribution::kNone)
          out_.none_ns[static_cast<std::size_t>(*family)] += ns;
      }
    }
    fill_facts(sure);
    if (out_.ns[at(Attribution::kAligned)] > 0)
      out_.aligned_confidence =
          confident_ns / static_cast<double>(out_.ns[at(Attribution::kAligned)]);
    for (EventId i = 0; i < e.size(); ++i)
      if (is_gpu(e.category[i]))
        out_.gpu_ns += e.dur_ns[i];
    std::ranges::sort(out_.kernels, [](const auto& a, const auto& b) { return a.event < b.event; });
  }

  void fill_facts(const std::vector<double>& sure) {
    for (std::size_t g = 0; g < guesses_.size(); ++g) {
      const ReplayedGraph& graph = out_.graphs.graphs[g];
      GraphFacts& facts = out_.facts[g];
      facts.id = graph.id;
      facts.replays = graph.replays;
      facts.kernels = graph.nodes.size();
      facts.incomplete = graph.incomplete;
      facts.period = guesses_[g].period;
      facts.donor = guesses_[g].donor;
      const std::int64_t known = facts.total_ns - facts.ns[at(Attribution::kNone)];
      facts.confidence = known > 0 ? sure[g] / static_cast<double>(known) : 0;
      out_.graph_ns += facts.total_ns;
      for (std::size_t a = 0; a < kAttributions; ++a)
        out_.ns[a] += facts.ns[a];
    }
    for (const GraphReplay& replay : out_.graphs.replays)
      if (replay.graph != kNoRow)
        out_.facts[replay.graph].missing += replay.missing;
  }

  void count_losses() {
    const auto steps = annotated_steps(t_.trace);
    const auto profiled = profiler_steps(t_.trace);
    for (const GraphReplay& replay : out_.graphs.replays) {
      const bool empty = replay.kernels.empty();
      if (!empty && replay.missing == 0)
        continue;
      const std::int64_t ts = t_.trace.events.ts_ns[replay.launch];
      std::string where = fmt::format("launch of uid {}", t_.trace.events.uid[replay.launch]);
      const auto after = std::partition_point(
          steps.begin(), steps.end(), [ts](const AnnotatedStep& s) { return s.start_ns <= ts; });
      if (after != steps.begin() && ts < std::prev(after)->end_ns)
        where = fmt::format("step {} ({})", after - steps.begin(),
                            t_.trace.name(std::prev(after)->annotation));
      else if (const std::int64_t number = step_at(profiled, ts); number >= 0)
        where = fmt::format("ProfilerStep#{}", number);
      out_.losses.push_back({std::move(where), replay.missing});
    }
  }

  const LoadedTrace& t_;
  const LoadedTrace* donor_;
  KernelSymbols symbols_;
  OperatorList ops_;
  std::vector<DonorSequence> donors_;
  std::unordered_map<EventId, const GraphLaunch*> matches_; ///< by launch, if captures were merged
  std::vector<GraphGuess> guesses_;
  GraphAttribution out_;
};

} // namespace

std::string_view attribution_name(Attribution attribution) {
  static constexpr std::array<std::string_view, kAttributions> kNames = {
      "launch", "capture", "graph_node", "aligned", "none"};
  return kNames[at(attribution)];
}

const ReplayedKernel* GraphAttribution::find(EventId gpu) const {
  const auto it = std::lower_bound(kernels.begin(), kernels.end(), gpu,
                                   [](const ReplayedKernel& k, EventId e) { return k.event < e; });
  return it != kernels.end() && it->event == gpu ? &*it : nullptr;
}

double GraphAttribution::unattributed_percent() const {
  return percent_of(ns[at(Attribution::kNone)], graph_ns);
}

GraphAttribution attribute_graphs(const LoadedTrace& t, const LoadedTrace* donor) {
  if (!has_graph_launches(t.trace))
    return {};
  return Attributor(t, donor).attribute();
}

GraphAttribution compute(const LoadedTrace& trace, const GraphsKey& key) {
  return key.compat ? GraphAttribution{} : attribute_graphs(trace, key.donor.get());
}

GraphCell graph_cell(const LoadedTrace& t, const GraphAttribution& a,
                     std::span<const std::span<const EventId>> calls) {
  std::array<std::int64_t, kAttributions> ns{};
  std::array<std::int64_t, kKernelFamilies> families{};
  std::map<std::string_view, std::int64_t> operators;
  double sure = 0;
  for (const auto& kernels : calls)
    for (const EventId k : kernels) {
      const std::int64_t dur = std::max<std::int64_t>(t.trace.events.dur_ns[k], 1);
      const ReplayedKernel* graph = a.find(k);
      ns[at(graph == nullptr ? Attribution::kLaunch : graph->attribution)] += dur;
      sure += static_cast<double>(dur) * (graph == nullptr ? 1.0 : graph->confidence);
      if (graph != nullptr)
        families[static_cast<std::size_t>(graph->family)] += dur;
      if (graph != nullptr && graph->op != kNoRow)
        operators[a.operators[graph->op].name] += dur;
    }
  GraphCell out;
  const std::int64_t total = std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
  if (total == 0)
    return out;
  out.attribution = static_cast<Attribution>(std::max_element(ns.begin(), ns.end()) - ns.begin());
  out.confidence = sure / static_cast<double>(total);
  if (const auto most = std::max_element(families.begin(), families.end()); *most > 0)
    out.family = kernel_family_name(static_cast<KernelFamily>(most - families.begin()));
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const auto& [name, dur] : operators)
    order.emplace_back(-dur, name);
  std::sort(order.begin(), order.end());
  for (const auto& [dur, name] : order)
    out.operators.append(out.operators.empty() ? "" : ", ").append(name);
  return out;
}

std::string graph_headline(const GraphAttribution& a) {
  if (a.graphs.replays.empty())
    return "";
  const auto share = [&a](Attribution how) { return percent_of(a.ns[at(how)], a.graph_ns); };
  std::string out = fmt::format(
      "graph launches: {} ({} graph{}), {:.3f} ms = {:.1f} % of GPU time", a.graphs.replays.size(),
      a.graphs.graphs.size(), a.graphs.graphs.size() == 1 ? "" : "s",
      ns_to_ms(static_cast<double>(a.graph_ns)), percent_of(a.graph_ns, a.gpu_ns));
  if (a.graph_ns == 0)
    return out + "; the trace has no GPU events of them";
  std::string shares;
  const auto add = [&shares](double value, const std::string& text) {
    if (value > 0)
      shares += fmt::format("{}{} {:.1f} %", shares.empty() ? "" : ", ", text, value);
  };
  add(share(Attribution::kCapture), "by capture");
  add(share(Attribution::kGraphNode), "by ids");
  add(share(Attribution::kAligned), "by alignment");
  if (share(Attribution::kAligned) > 0)
    shares += fmt::format(" (mean confidence {:.2f})", a.aligned_confidence);
  out += fmt::format("; attributed: {}, NOT attributed {:.1f} %",
                     shares.empty() ? "nothing" : shares, a.unattributed_percent());
  if (shares.empty())
    out += "; operators unknown: no eager step or captured graph has the same kernels "
           "(--donor TRACE gives one)";
  return out;
}

std::string unattributed_families(const GraphAttribution& a) {
  std::vector<std::pair<std::int64_t, KernelFamily>> order;
  for (std::size_t f = 0; f < kKernelFamilies; ++f)
    if (a.none_ns[f] > 0)
      order.emplace_back(-a.none_ns[f], static_cast<KernelFamily>(f));
  sort_stably(order);
  std::string out;
  for (const auto& [ns, family] : order)
    out += fmt::format("{}{} {:.1f} %", out.empty() ? "" : ", ", kernel_family_name(family),
                       percent_of(-ns, a.ns[at(Attribution::kNone)]));
  return out;
}

} // namespace rankscope
