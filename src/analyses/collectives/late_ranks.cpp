#include "analyses/collectives/late_ranks.h"

#include <utility>

namespace rankscope {
namespace {

constexpr double kClockUs = 0.001; ///< resolution of durations

} // namespace

LateRanks late_ranks(const CollectiveFacts& facts) {
  std::vector<std::vector<StepSeries>> run(1);
  for (const Straggler& s : facts.stragglers)
    run.front().push_back(s.late_us);
  LateRanks out;
  std::vector<RankTest> tests = test_ranks(run, kClockUs);
  find_changing(run, kClockUs, tests);
  out.test = std::move(tests.front());
  for (std::size_t r = 0; r < out.test.ranks.size(); ++r)
    out.ranks.push_back({&facts.stragglers[r], out.test.ranks[r]});
  out.test.ranks.clear();
  return out;
}

} // namespace rankscope
