#include "analyses/compare/workload.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {

bool WorkloadOverlap::differs() const {
  return std::min(base_percent, test_percent) < 50 || common * 10 < all * 3;
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

namespace {

/// Kernels of one operator with one list of shapes.
struct ShapeWork {
  double launches = 0; ///< per step
  double ns = 0;       ///< own time
};
using OperatorWork = std::map<std::string, std::map<std::string, ShapeWork>>; ///< by shapes

OperatorWork operator_work(const StepWork& run, double& all_ns) {
  OperatorWork out;
  for (const auto& [key, work] : run.work) {
    if (key.kind != StepWorkKind::kKernel)
      continue;
    ShapeWork& sum = out[key.op][key.shapes];
    sum.launches += work.launches;
    for (const std::int64_t ns : work.self_ns)
      sum.ns += static_cast<double>(ns);
    for (const std::int64_t ns : work.self_ns)
      all_ns += static_cast<double>(ns);
  }
  return out;
}

/// Returns the own time of the shapes in `run` that `others` lacks or launches more or less often.
double other_work_ns(const std::map<std::string, ShapeWork>& run,
                     const std::map<std::string, ShapeWork>& others, std::string& largest) {
  constexpr double kEqual = 0.05;
  double sum = 0;
  double most = -1;
  for (const auto& [shapes, work] : run) {
    const auto found = others.find(shapes);
    if (found != others.end() &&
        std::fabs(found->second.launches - work.launches) <= kEqual * work.launches)
      continue;
    sum += work.ns;
    if (work.ns > most) {
      most = work.ns;
      largest = fmt::format("{}{}{:.4g} launch{}", shapes, shapes.empty() ? "" : ", ",
                            work.launches, work.launches == 1 ? "" : "es");
    }
  }
  return sum;
}

} // namespace

bool WorkDifference::differs() const {
  return std::max(base_percent, test_percent) > 10;
}

WorkDifference work_difference(const StepWork& base, const StepWork& test) {
  WorkDifference out;
  double base_ns = 0;
  double test_ns = 0;
  const OperatorWork then = operator_work(base, base_ns);
  const OperatorWork now = operator_work(test, test_ns);
  if (!(base_ns > 0) || !(test_ns > 0))
    return out;
  double most = 0;
  for (const auto& [op, shapes] : then) {
    const auto found = now.find(op);
    if (found == now.end())
      continue;
    std::string base_work;
    std::string test_work;
    const double base_part = 100 * other_work_ns(shapes, found->second, base_work) / base_ns;
    const double test_part = 100 * other_work_ns(found->second, shapes, test_work) / test_ns;
    out.base_percent += base_part;
    out.test_percent += test_part;
    if (base_part + test_part > most) {
      most = base_part + test_part;
      out.op = op.empty() ? "(no operator)" : op;
      out.base_work = base_work;
      out.test_work = test_work;
    }
  }
  return out;
}

} // namespace rankscope
