#include "analyses/job/places.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <unordered_map>

namespace rankscope {
namespace {

struct PlaceKey {
  std::size_t step = 0, token = 0, occurrence = 0;
  std::size_t piece = 0; ///< of a stretch of the host
  bool operator==(const PlaceKey&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const PlaceKey& p) const {
    return p.token ^ (p.step * 0x9e3779b97f4a7c15ULL) ^ (p.occurrence * 0xc2b2ae3d27d4eb4fULL) ^
           (p.piece * 0xd6e8feb86659fd93ULL);
  }
};

/// Returns by rank and activity a hash of the activity's kind and of the texts `texts`.
using PlaceTexts = std::initializer_list<StrId Activity::*>;
std::vector<std::vector<std::size_t>> tokens_of(const JobRun& run, PlaceTexts texts) {
  std::vector<std::vector<std::size_t>> out;
  for (const RankGraph& rank : run.ranks) {
    std::vector<std::size_t>& tokens = out.emplace_back();
    for (const Activity& a : rank.activities) {
      auto token = static_cast<std::size_t>(a.kind);
      for (const auto text : texts)
        token = token * 0x100000001b3ULL ^ std::hash<std::string_view>()(rank.text(a.*text));
      tokens.push_back(token);
    }
  }
  return out;
}

/// Returns by rank and call whether the call is an activity however short it is.
std::vector<std::vector<bool>> lasting_calls(const JobRun& run) {
  std::vector<std::vector<bool>> out;
  for (const RankGraph& rank : run.ranks) {
    std::vector<bool> blocks;
    for (const Activity& a : rank.activities)
      blocks.push_back(a.kind == ActivityKind::kCall && may_block(rank.text(a.name)));
    std::vector<bool>& calls = out.emplace_back();
    for (std::size_t c = 0; c < rank.operator_ns.size(); ++c)
      calls.push_back(blocks[rank.nodes[2 * c + 1].activity]);
  }
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (const NodeId from = run.graph.waited(n, WaitKind::kLaunch); from != kNoNode)
      if (std::vector<bool>& calls = out[run.rank_of[from]]; run.local_of[from] / 2 < calls.size())
        calls[run.local_of[from] / 2] = true;
  return out;
}

/// The places of host activities, and of calls that are activities only because of their length.
class HostStretches {
public:
  /// Adds divided stretches to `out`.
  HostStretches(const JobRun& run, const std::vector<std::vector<std::size_t>>& tokens,
                RunPlaces& out)
      : keys_(run.ranks.size()) {
    const std::vector<std::vector<bool>> lasting = lasting_calls(run);
    const std::vector<std::vector<NodeId>> nodes = host_nodes(run);
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      keys_[r].resize(nodes[r].size());
      std::unordered_map<PlaceKey, std::size_t, PlaceHash> seen;
      std::size_t token = 0, first = 0;
      for (std::size_t c = 0; c <= lasting[r].size(); ++c) {
        if (c < lasting[r].size() && !lasting[r][c])
          continue;
        const std::size_t end = std::min(2 * c + 1, nodes[r].size());
        if (first < end)
          add_stretch(run, std::span(nodes[r]).subspan(first, end - first), token, seen, out);
        if (c < lasting[r].size())
          token = ~tokens[r][run.ranks[r].nodes[2 * c + 1].activity];
        first = 2 * c + 2;
      }
    }
  }
  /// Returns the key; nullptr for GPU work and calls that are always activities.
  [[nodiscard]] const PlaceKey* key(const JobRun& run, NodeId n) const {
    const std::vector<std::optional<PlaceKey>>& keys = keys_[run.rank_of[n]];
    const NodeId local = run.local_of[n];
    return local < keys.size() && keys[local] ? &*keys[local] : nullptr;
  }

private:
  /// Returns the nodes of the host's activities and calls, by rank and node in the rank's graph.
  static std::vector<std::vector<NodeId>> host_nodes(const JobRun& run) {
    std::vector<std::vector<NodeId>> out(run.ranks.size());
    for (NodeId n = 0; n < run.graph.size(); ++n)
      if (run.is_activity(n) && !on_gpu(run.activity(n).kind)) {
        std::vector<NodeId>& nodes = out[run.rank_of[n]];
        nodes.resize(std::max<std::size_t>(nodes.size(), run.local_of[n] + 1));
        nodes[run.local_of[n]] = n;
      }
    return out;
  }

  /// `token`: of the call before the stretch.
  void add_stretch(const JobRun& run, std::span<const NodeId> nodes, std::size_t token,
                   std::unordered_map<PlaceKey, std::size_t, PlaceHash>& seen, RunPlaces& out) {
    PlaceKey key{run.step_of(nodes.back()), token};
    key.occurrence = seen[key]++;
    std::int64_t ns = 0;
    for (const NodeId n : nodes) {
      keys_[run.rank_of[n]][run.local_of[n]] = key;
      ++key.piece;
      ns += run.graph.dur_ns(n);
      if (n != nodes.front())
        out.first_of.emplace(n, nodes.front());
    }
    if (nodes.size() > 1)
      out.stretch_ns.emplace(nodes.front(), ns);
  }

  std::vector<std::vector<std::optional<PlaceKey>>> keys_; ///< by rank and node in its graph
};

/// Returns places from the distinct values of `key(node)`, for all activities.
template <class Key> RunPlaces numbered(const JobRun& run, const Key& key, RunPlaces out = {}) {
  out.place.assign(run.graph.size(), kNoPlace);
  std::unordered_map<PlaceKey, std::uint32_t, PlaceHash> number;
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.is_activity(n))
      out.place[n] =
          number.emplace(key(n), static_cast<std::uint32_t>(number.size())).first->second;
  out.count = number.size();
  return out;
}

/// Returns places from these texts and from the index among equal activities of the rank and step.
RunPlaces in_order(const JobRun& run, PlaceIn in, PlaceTexts texts) {
  const std::vector<std::vector<std::size_t>> tokens = tokens_of(run, texts);
  RunPlaces out;
  const HostStretches stretches(run, tokens, out);
  // number of activities so far, by rank, step and token
  std::vector<std::unordered_map<PlaceKey, std::size_t, PlaceHash>> seen(run.ranks.size());
  const auto key_of = [&](NodeId n) {
    if (const PlaceKey* const host = stretches.key(run, n))
      return *host;
    PlaceKey key{run.step_of(n), tokens[run.rank_of[n]][run.node(n).activity]};
    key.occurrence = seen[run.rank_of[n]][key]++;
    return key;
  };
  return numbered(
      run,
      [&](NodeId n) {
        PlaceKey key = key_of(n);
        if (in == PlaceIn::kAnyStep)
          key.step = 0;
        return key;
      },
      std::move(out));
}

} // namespace

RunPlaces places_of(const JobRun& run, PlaceIn in) {
  return in_order(run, in, {&Activity::name, &Activity::op, &Activity::context, &Activity::shapes});
}

RunPlaces places_by_operator(const JobRun& run) {
  return in_order(run, PlaceIn::kEachStep, {&Activity::op, &Activity::context});
}

RunPlaces places_by_name(const JobRun& run) {
  const std::vector<std::vector<std::size_t>> tokens = tokens_of(run, {&Activity::name});
  return numbered(run, [&](NodeId n) {
    return PlaceKey{0, tokens[run.rank_of[n]][run.node(n).activity], 0};
  });
}

PlaceNodes::PlaceNodes(const RunPlaces& places) : first_(places.count + 1, 0) {
  for (const std::uint32_t place : places.place)
    if (place != kNoPlace)
      ++first_[place + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  nodes_.resize(first_.back());
  std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
  for (NodeId n = 0; n < places.place.size(); ++n)
    if (places.place[n] != kNoPlace)
      nodes_[at[places.place[n]]++] = n;
}

std::optional<double> prediction_error_percent(const JobRun& run, const CountedSteps& clock,
                                               const PlaceNodes& places) {
  constexpr double kLeastKnown = 0.95; // of the time of a step's activities
  if (clock.counted() < 2)
    return std::nullopt;
  std::vector<std::int64_t> all_ns(run.steps() + 1), known_ns(all_ns); // by step
  JobEdit edit = JobEdit::of(run.graph);
  std::map<std::pair<std::uint32_t, std::size_t>, NodeId> at; // nodes of a place, by rank and step
  for (std::uint32_t place = 0; place < places.count(); ++place) {
    at.clear();
    for (const NodeId n : places.at(place))
      at[{run.rank_of[n], run.step_of(n)}] = n;
    for (const auto& [key, n] : at) {
      const auto& [rank, step] = key;
      all_ns[step] += run.graph.dur_ns(n);
      // the step before the first one is unknown
      const auto before =
          step == 0 || !clock.counts(step - 1) ? at.end() : at.find({rank, step - 1});
      if (before == at.end())
        continue;
      known_ns[step] += run.graph.dur_ns(n);
      edit.dur_ns[n] = run.graph.dur_ns(before->second);
      edit.delay(run.graph, n) = run.graph.delay_ns(before->second);
    }
  }
  const std::vector<double> measured = clock.each_ms(step_ends(run, {}, run.graph.starts())),
                            predicted = clock.each_ms(step_ends(run, edit));
  double sum = 0;
  for (std::size_t k = 1; k < measured.size(); ++k) { // the first counted step is not predicted
    const std::size_t step = clock.first() + k;
    if (static_cast<double>(known_ns[step]) < kLeastKnown * static_cast<double>(all_ns[step]))
      return std::nullopt;
    if (measured[k] > 0)
      sum += std::abs(predicted[k] / measured[k] - 1);
  }
  return 100 * sum / static_cast<double>(measured.size() - 1);
}

} // namespace rankscope
