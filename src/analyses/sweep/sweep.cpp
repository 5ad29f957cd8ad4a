#include "analyses/sweep/sweep.h"

#include <algorithm>

namespace rankscope {

bool SweepFacts::empty() const {
  return std::all_of(records.begin(), records.end(),
                     [](const RankRecord& r) { return !r.error.empty(); });
}

} // namespace rankscope
