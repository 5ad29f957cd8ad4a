#include "core/gpu_launches.h"

#include "core/graph_launch.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace rankscope {
namespace {

bool contains_launch(std::string_view name) {
  constexpr std::string_view kWord = "launch";
  return std::search(name.begin(), name.end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

/// (key, event) pairs, sorted by key; pairs with the same key are in file order.
using KeyIndex = std::vector<std::pair<std::int64_t, EventId>>;

void sort_index(KeyIndex& index) {
  if (!std::is_sorted(index.begin(), index.end()))
    std::sort(index.begin(), index.end());
}

std::span<const std::pair<std::int64_t, EventId>> range_of(const KeyIndex& index,
                                                           std::int64_t key) {
  const auto first = std::lower_bound(index.begin(), index.end(), std::make_pair(key, EventId{0}));
  constexpr std::ptrdiff_t kUsual = 4; // an id rarely occurs more often, but in damaged traces it
                                       // may occur any number of times
  auto last = first;
  while (last != index.end() && last->first == key)
    if (++last - first == kUsual) {
      last = std::upper_bound(last, index.end(), key,
                              [](std::int64_t k, const auto& entry) { return k < entry.first; });
      break;
    }
  return {first, last};
}

/// Returns which GPU work a call of the event's source owns.
CallWork call_work(const Trace& trace, EventId e) {
  const std::vector<std::uint16_t>& source = trace.events.source;
  return trace.sources[source.empty() ? std::uint16_t{0} : source[e]].call_work;
}

/// Returns whether the correlation id links launches to GPU work. It does, unless the first launch
/// in the file has no correlation id (docs/reference/report-rules.md 3, step 1). Sources with
/// CallWork::kAll have no other id.
bool links_by_correlation(const Trace& trace) {
  const Events& e = trace.events;
  std::vector<signed char> is_launch(trace.strings.size(), -1);
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]))
      continue;
    if (call_work(trace, i) == CallWork::kAll)
      return true;
    signed char& known = is_launch[e.name[i]];
    if (known < 0)
      known = contains_launch(trace.name(i)) ? 1 : 0;
    if (known == 1)
      return e.correlation[i] != kNoId;
  }
  return false;
}

/// Decides whether a call owns all GPU work with its id, one event of it, or no event. The decision
/// depends on the source of the call (docs/reference/report-rules.md 3).
class CallRule {
public:
  CallRule(const Trace& trace, const std::vector<std::int64_t>& keys) : trace_(trace), keys_(keys) {
    for (StrId id = 0; id < trace.strings.size(); ++id)
      graph_launches_.push_back(launches_graph(trace.strings.view(id)));
    const Events& e = trace.events;
    for (EventId i = 0; i < e.size(); ++i)
      if (is_runtime(e.category[i]) && keys[i] != kNoId && all_of_id(i))
        calls_.emplace_back(keys[i], i);
    sort_index(calls_);
    keep_innermost();
  }

  [[nodiscard]] bool takes_all(EventId call) const {
    return all_of_id(call) || graph_launches_[trace_.events.name[call]];
  }

  /// Returns true if another call with the same id is inside this call and owns its work.
  [[nodiscard]] bool takes_none(EventId call) const {
    return all_of_id(call) && range_of(calls_, keys_[call]).front().second != call;
  }

private:
  /// Keeps one call per id: the shortest, and the last of several calls with the same duration.
  void keep_innermost() {
    const std::vector<std::int64_t>& dur_ns = trace_.events.dur_ns;
    std::size_t kept = 0;
    for (const auto& call : calls_)
      if (kept == 0 || calls_[kept - 1].first != call.first)
        calls_[kept++] = call;
      else if (dur_ns[call.second] <= dur_ns[calls_[kept - 1].second])
        calls_[kept - 1] = call;
    calls_.resize(kept);
  }

  [[nodiscard]] bool all_of_id(EventId call) const {
    return call_work(trace_, call) == CallWork::kAll;
  }

  const Trace& trace_;
  const std::vector<std::int64_t>& keys_;
  std::vector<bool> graph_launches_; ///< for each name: whether it launches a graph
  KeyIndex calls_; ///< for sources with kAll: the call of each id that owns the GPU work
};

} // namespace

Launches find_launches(const Trace& trace, TreeRules rules) {
  const Events& e = trace.events;
  const bool by_correlation = links_by_correlation(trace);
  const std::vector<std::int64_t>& keys = by_correlation ? e.correlation : e.external_id;
  KeyIndex gpu;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]) && keys[i] != kNoId)
      gpu.emplace_back(keys[i], i);
  sort_index(gpu);

  // flows by id: there must be a start; if there are several ends, the last one is used (step 2)
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
  // the reference treats a trace without any ac2g flow as written without flows, so ids link
  const bool need_flows = rules == TreeRules::kBatchReference ||
                          (rules == TreeRules::kReference && (!starts.empty() || !ends.empty()));

  // if several GPU events have an id: the last one on the track of the flow, which is the same for
  // all calls with this id
  std::unordered_map<std::int64_t, std::optional<EventId>> event_of_shared_id;
  const auto last_on = [&e](std::span<const std::pair<std::int64_t, EventId>> candidates,
                            std::uint32_t track) -> std::optional<EventId> {
    const auto found = std::find_if(candidates.rbegin(), candidates.rend(), [&](const auto& entry) {
      return e.track[entry.second] == track;
    });
    return found == candidates.rend() ? std::nullopt : std::optional(found->second);
  };

  const CallRule rule(trace, keys);
  Launches out;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]) || keys[i] == kNoId)
      continue;
    const auto candidates = range_of(gpu, keys[i]);
    if (candidates.empty() || rule.takes_none(i))
      continue;
    if (rule.takes_all(i)) {
      for (const auto& [key, event] : candidates)
        out.pairs.emplace_back(i, event);
      continue;
    }
    const auto flow_ends = range_of(ends, keys[i]);
    if (flow_ends.empty() || range_of(starts, keys[i]).empty()) {
      if (!need_flows) // the flow is missing or was never written
        out.pairs.emplace_back(i, candidates.back().second);
      continue;
    }
    const std::uint32_t track = trace.flows.track[flow_ends.back().second];
    std::optional<EventId> event;
    if (candidates.size() == 1) {
      event = last_on(candidates, track);
    } else {
      const auto [known, fresh] = event_of_shared_id.try_emplace(keys[i]);
      if (fresh)
        known->second = last_on(candidates, track);
      event = known->second;
    }
    if (!event && !need_flows)
      event = candidates.back().second;
    if (event)
      out.pairs.emplace_back(i, *event);
  }
  return out;
}

} // namespace rankscope
