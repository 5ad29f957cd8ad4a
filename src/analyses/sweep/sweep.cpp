#include "analyses/sweep/sweep.h"

#include <algorithm>

namespace rankscope {

bool SweepFacts::empty() const {
  return std::ranges::all_of(records, [](const RankRecord& r) { return !r.error.empty(); });
}

} // namespace rankscope
