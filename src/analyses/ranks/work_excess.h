// The time of a rank in one kind of work (an operator), against that of its peers.
#pragma once

#include "base/units.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace rankscope {

struct WorkExcess {
  double usual = 0, excess = 0; ///< the peers' time, and how much longer the rank takes; one unit

  /// Returns the excess in percent of the usual time; 0 if the peers have no such work.
  [[nodiscard]] double percent() const { return percent_of(excess, usual); }
};

/// Returns the kinds with at least 5 % of the usual time. `Work`: a WorkExcess.
template <class Work> [[nodiscard]] std::vector<Work> large_work(const std::vector<Work>& work) {
  constexpr double kLargeWork = 0.05;
  double all = 0;
  for (const WorkExcess& w : work)
    all += w.usual;
  std::vector<Work> out;
  std::ranges::copy_if(work, std::back_inserter(out), [all](const WorkExcess& w) {
    return w.usual > 0 && w.usual >= kLargeWork * all;
  });
  return out;
}

/// Returns whether each kind takes longer by the same factor, to within a factor of two: then the
/// GPU is slower, not an operator. `work`: large_work(). The kinds have equal weights.
template <class Work> [[nodiscard]] bool longer_alike(const std::vector<Work>& work) {
  WorkExcess all;
  for (const WorkExcess& w : work) {
    all.usual += w.usual;
    all.excess += w.excess;
  }
  const double percent = all.percent();
  return percent > 0 && std::ranges::all_of(work, [percent](const WorkExcess& w) {
           return w.percent() >= percent / 2 && w.percent() <= percent * 2;
         });
}

} // namespace rankscope
