#include "readers/rocprof/rank_order.h"

#include "base/counters.h"

#include <set>

namespace rankscope {

bool number_ranks(std::vector<std::optional<std::int64_t>>& ranks) {
  std::set<std::int64_t> seen;
  bool good = true;
  for (const std::optional<std::int64_t>& rank : ranks)
    good = good && rank && seen.insert(*rank).second;
  if (good || ranks.size() < 2)
    return false;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ranks[i] = static_cast<std::int64_t>(i);
  return true;
}

void say_ranks_by_order(Diagnostics& diagnostics, const std::string& path) {
  diagnostics.add(counters::processes_by_order(), path);
}

} // namespace rankscope
