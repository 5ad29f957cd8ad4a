// Own times (timeline/own_times.h) of a rank or a run by kernel, collective and copy, per step.
// what_changed.h takes its samples from here.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_facts.h"
#include "base/interval_set.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class StepWorkKind : std::uint8_t { kKernel, kCollective, kCopy, kIdle, kWait };
inline constexpr std::size_t kStepWorkKinds = 5;
/// Returns "kernel", "collective", "copy", "idle time" or "wait at collectives".
[[nodiscard]] std::string_view step_work_kind_name(StepWorkKind kind);
/// Returns whether the kind is work: neither idle time nor waiting.
[[nodiscard]] bool has_launches(StepWorkKind kind);

struct WorkKey {
  StepWorkKind kind = StepWorkKind::kKernel;
  std::string op;     ///< nearest operator above the launch, else the launching call
  std::string shapes; ///< recorded input shapes of `op`, "4096x4096 4096x14336"
  std::string name;   ///< kernel name; for a collective its name, type, elements and group; for
                      ///< idle time its cause (timeline/idle_causes.h)
  // clang-tidy 14 takes the 0 of the comparison for a pointer
  auto operator<=>(const WorkKey&) const = default; // NOLINT(modernize-use-nullptr)
};

/// The own time of one collective kernel.
struct CollectiveSelfTime {
  std::int64_t rank = 0;
  std::int64_t step = 0; ///< number
  std::int32_t stream = -1;
  std::int64_t ts_ns = 0;      ///< start, as in the file
  std::vector<Interval> parts; ///< ns from the start of the kernel, ascending and disjoint
};

/// The launches of one key.
struct Work {
  std::vector<std::int64_t> self_ns; ///< by step
  std::vector<std::int64_t> wait_ns; ///< part of self_ns in which a collective waits for late
                                     ///< ranks; empty = unknown
  double launches = 0;               ///< per step
  double place = 0; ///< mean place of the launches in their steps: 0 the first, 1 the last
  /// Data of the first launch: hash of the names of the operators above `op`, and geometry.
  std::uint64_t path = 0;                  ///< 0 = no operator launches it
  std::string grid, block;                 ///< JSON, "" = not recorded
  std::vector<CollectiveSelfTime> kernels; ///< collectives with own time, until add_waits()
};

/// Own times of all GPU work and idle time: they add up to the steps' total_time.
struct StepWork {
  bool without_steps = false;         ///< no steps: the complete trace counts as one step
  bool waits_known = false;           ///< the collectives in the steps are complete
  std::size_t ranks = 0;              ///< number of ranks in the sums; 0: nothing is known
  std::vector<std::int64_t> steps;    ///< numbers, ascending
  std::vector<std::int64_t> total_ns; ///< by step, sum over the ranks
  std::map<WorkKey, Work> work;       ///< self_ns: sum over the ranks; launches and place: means
};

/// Returns the work of one rank.
[[nodiscard]] StepWork step_work_of(const LoadedTrace& trace, const ReportOptions& options);
/// Returns the work of a run, in the steps that all its ranks have. Ranks without steps cannot be
/// joined with ranks that have steps: the result is then empty.
[[nodiscard]] StepWork join_step_work(std::vector<StepWork> ranks);

/// Sets Work::wait_ns: the own time in which the run's collectives wait for late ranks. Sets
/// nothing if a collective in the steps is incomplete, because its wait is unknown. A kernel waits
/// from its start on, for its duration minus the shortest duration in its collective, so clock
/// differences do not affect the wait. Removes Work::kernels.
void add_waits(StepWork& run, const CollectiveFacts& facts);
/// Returns the work with all waits in one row instead of in the collectives' rows. Requires
/// waits_known.
[[nodiscard]] StepWork with_separate_waits(StepWork run);

/// Idle time of all causes, as in baselines of earlier versions.
inline const WorkKey kJoinedIdle{StepWorkKind::kIdle, {}, {}, "idle"};
/// Returns the work with all idle time in one row.
[[nodiscard]] StepWork with_joined_idle(StepWork run);

/// Returns the inconsistency of a StepWork read from a file; nullptr if it is consistent.
[[nodiscard]] const char* wrong_with(const StepWork& work);

} // namespace rankscope
