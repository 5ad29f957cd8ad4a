#include "analyses/job/places.h"

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
  bool operator==(const PlaceKey&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const PlaceKey& p) const {
    return p.token ^ (p.step * 0x9e3779b97f4a7c15ULL) ^ (p.occurrence * 0xc2b2ae3d27d4eb4fULL);
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

/// Returns by rank and call the token of the host activity before the call; the last one is for the
/// host after all calls. Host activities are counted from the last call that is always an activity:
/// their names, and whether other calls end them, depend on durations.
std::vector<std::vector<std::size_t>>
tokens_of_host(const JobRun& run, const std::vector<std::vector<std::size_t>>& tokens) {
  const std::vector<std::vector<bool>> lasting = lasting_calls(run);
  std::vector<std::vector<std::size_t>> out(run.ranks.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    std::size_t token = 0;
    for (std::size_t c = 0; c < lasting[r].size(); ++c) {
      out[r].push_back(token++);
      if (lasting[r][c])
        token = ~tokens[r][run.ranks[r].nodes[2 * c + 1].activity];
    }
    if (!out[r].empty())
      out[r].push_back(token);
  }
  return out;
}

/// Returns places from the distinct values of `key(node)`, for all activities.
template <class Key> RunPlaces numbered(const JobRun& run, const Key& key) {
  RunPlaces out;
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
  const std::vector<std::vector<std::size_t>> host_tokens = tokens_of_host(run, tokens);
  // number of activities so far, by rank, step and token
  std::vector<std::unordered_map<PlaceKey, std::size_t, PlaceHash>> seen(run.ranks.size());
  return numbered(run, [&](NodeId n) {
    const std::uint32_t rank = run.rank_of[n];
    const std::size_t call = run.local_of[n] / 2;
    const bool host =
        run.activity(n).kind == ActivityKind::kHost && call < host_tokens[rank].size();
    PlaceKey key{run.step_of(n),
                 host ? host_tokens[rank][call] : tokens[rank][run.node(n).activity], 0};
    const std::size_t occurrence = seen[rank][key]++;
    key.occurrence = occurrence;
    if (in == PlaceIn::kAnyStep)
      key.step = 0;
    return key;
  });
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
