#include "analyses/serving/serving_steps.h"

#include <algorithm>
#include <optional>

namespace rankscope {

std::vector<ServerStep> serving_steps(const Trace& trace) {
  const Events& e = trace.events;
  constexpr std::uint32_t kNotLooked = kNoRow;
  std::vector<std::uint32_t> row(trace.strings.size(), kNotLooked);
  std::vector<std::optional<StepCounts>> known;
  std::vector<ServerStep> out;
  bool all_sums = false;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kUserAnnotation)
      continue;
    std::uint32_t& at = row[e.name[i]];
    if (at == kNotLooked) {
      at = static_cast<std::uint32_t>(known.size());
      known.push_back(parse_step_counts(trace.name(i)));
    }
    if (!known[at])
      continue;
    all_sums = all_sums || has_all_sums(known[at]->kind);
    out.push_back({i, e.ts_ns[i], trace.end_ns(i), *known[at]});
  }
  if (all_sums)
    std::erase_if(out, [](const ServerStep& s) { return !has_all_sums(s.counts.kind); });
  std::stable_sort(out.begin(), out.end(), [](const ServerStep& a, const ServerStep& b) {
    return a.start_ns < b.start_ns;
  });
  return out;
}

} // namespace rankscope
