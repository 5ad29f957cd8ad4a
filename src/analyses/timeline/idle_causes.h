// Why the GPU had nothing to do: each gap of gpu_timeline's idle time by what came before the work
// that ends it.
#pragma once

#include "analyses/analysis.h"
#include "base/interval_set.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

enum class IdleCause : std::uint8_t {
  kHost,            ///< the work that ends the gap was not launched yet
  kSynchronisation, ///< the same, while its thread was in a call that waits for the GPU
  kLaunch,          ///< from the launching call to the start
  kQueued,          ///< the next work was launched before: it waited for other work, or its turn
  kUnknown,         ///< no launch in the trace
};
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::kUnknown) + 1;
/// "host", "synchronisation", ...: stable.
[[nodiscard]] std::string_view idle_cause_name(IdleCause cause);
/// In half a line.
[[nodiscard]] std::string_view idle_cause_help(IdleCause cause);
/// What to do about it: an imperative.
[[nodiscard]] std::string_view idle_cause_advice(IdleCause cause);

/// By its name, a runtime call that comes back when the GPU has done something. Copies that block
/// are not called ...Async.
[[nodiscard]] bool waits_for_gpu(std::string_view call);

struct IdleTime {
  std::array<std::int64_t, kIdleCauses> ns{};
  std::array<std::int64_t, kIdleCauses> gaps{}; ///< by the cause of most of the gap
  std::array<Interval, kIdleCauses> longest{};  ///< stretch of each cause; empty where none

  /// gpu_timeline's idle_time of the same options.
  [[nodiscard]] std::int64_t total_ns() const;
};

/// Of the GPU work that gpu_timeline counts; a gap from a to b that is ended by work launched at l:
/// l <= a: queued, b - a. Else until l: synchronisation while a blocking call of the launching
/// thread runs, host for the rest; from l on: launch. Example: work until 10 us, a call of
/// hipStreamSynchronize from 5 to 12, the next launched at 20 and begun at 24: synchronisation 2,
/// host 8, launch 4. O(n log n) in the GPU events. Recomputed work is included.
struct IdleKey {
  using Value = IdleTime;
  bool unlinked = false; ///< GPU work without a launch in the trace counts too
  IdleKey() = default;
  IdleKey(const ReportOptions& o) : unlinked(o.include_unlinked_kernels) {}
  auto operator<=>(const IdleKey&) const = default;
};
[[nodiscard]] IdleTime compute(const LoadedTrace& trace, const IdleKey& key);

/// A stretch of idle time with one cause.
struct IdlePart {
  std::int64_t start_ns = 0, end_ns = 0;
  IdleCause cause = IdleCause::kHost;
};
/// What IdleTime sums up, in the order of time; no part is empty.
[[nodiscard]] std::vector<IdlePart> idle_parts_of(const LoadedTrace& trace, const IdleKey& key);

} // namespace rankscope
