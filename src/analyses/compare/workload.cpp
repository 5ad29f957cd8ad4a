#include "analyses/compare/workload.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {

bool WorkloadOverlap::differs() const {
  return std::min(base_percent, test_percent) < 50 || common * 10 < all * 3;
}

std::string WorkloadOverlap::sentence(const std::string& base, const std::string& test) const {
  return fmt::format(
      "{} and {} look like different workloads: {} of {} operators are in both, with "
      "{:.0f} % and {:.0f} % of the operators' GPU time; what follows compares "
      "unlike things",
      base, test, common, all, base_percent, test_percent);
}

std::optional<WorkloadOverlap> workload_overlap(const OperatorTimes& base,
                                                const OperatorTimes& test) {
  WorkloadOverlap out;
  const auto timed = [](const OperatorTimes& times) {
    double sum = 0;
    for (const auto& [name, time] : times)
      sum += std::max(0.0, time);
    return sum;
  };
  const double base_all = timed(base);
  const double test_all = timed(test);
  if (!(base_all > 0) || !(test_all > 0))
    return std::nullopt;
  out.all = test.size();
  for (const auto& [name, time] : base) {
    const auto found = test.find(name);
    if (found == test.end()) {
      ++out.all;
      continue;
    }
    ++out.common;
    out.base_percent += 100 * std::max(0.0, time) / base_all;
    out.test_percent += 100 * std::max(0.0, found->second) / test_all;
  }
  return out;
}

} // namespace rankscope
