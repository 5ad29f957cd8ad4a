// What the steps of a rank, or of a run, were spent on: own times (timeline/own_times.h) by kernel,
// collective and copy, step by step. What what_changed.h takes its samples from.
#pragma once

#include "analyses/analysis.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class StepWorkKind : std::uint8_t { kKernel, kCollective, kCopy, kIdle };
inline constexpr std::size_t kStepWorkKinds = 4;
/// "kernel", "collective", "copy", "idle time".
[[nodiscard]] std::string_view step_work_kind_name(StepWorkKind kind);

struct WorkKey {
  StepWorkKind kind = StepWorkKind::kKernel;
  std::string op;     ///< nearest operator above the launch, else the launching call
  std::string shapes; ///< recorded shapes of its inputs, "4096x4096 4096x14336"
  std::string name;   ///< of the kernel; of a collective its name, type, elements and group
  // clang-tidy 14 takes the 0 of the comparison for a pointer
  auto operator<=>(const WorkKey&) const = default; // NOLINT(modernize-use-nullptr)
};

/// One key's launches.
struct Work {
  std::vector<std::int64_t> own_ns; ///< by step
  double launches = 0;              ///< a step
  double place = 0; ///< mean place of a launch among those of its step: 0 the first, 1 the last
  /// Where the first one stands: a mark of the names of the operators above `op`, its geometry.
  std::uint64_t path = 0;
  std::string grid, block; ///< JSON, "" = not recorded
};

/// Own times of all GPU work and idle time: they add up to the steps' total_time.
struct StepWork {
  bool whole = false;                 ///< no steps: all of the trace as one
  std::size_t ranks = 0;              ///< that the sums are of; 0: nothing is known
  std::vector<std::int64_t> steps;    ///< numbers, ascending
  std::vector<std::int64_t> total_ns; ///< by step, sum over the ranks
  std::map<WorkKey, Work> work;       ///< own_ns: sum over the ranks; launches and place: means
};

/// Of one rank.
[[nodiscard]] StepWork step_work_of(const LoadedTrace& trace, const ReportOptions& options);
/// Of a run: the steps that all its ranks have. Ranks without steps and ranks with some do not go
/// together: nothing is known then.
[[nodiscard]] StepWork join_step_work(const std::vector<StepWork>& ranks);

/// What does not fit together in one that was read; nullptr when all does.
[[nodiscard]] const char* wrong_with(const StepWork& work);

} // namespace rankscope
