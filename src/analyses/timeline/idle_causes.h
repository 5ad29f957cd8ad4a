// Causes of idle GPU time. Each gap of gpu_timeline's idle time gets its cause from the CPU calls
// before the work that ends the gap.
#pragma once

#include "analyses/analysis.h"
#include "base/interval_set.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope {

enum class IdleCause : std::uint8_t {
  kHost,            ///< the work that ends the gap was not launched yet
  kSynchronisation, ///< not launched yet, and its thread was in a call that waits for the GPU
  kLaunch,          ///< launched: time from the launching call to the start
  kQueued,          ///< launched before the gap: the work waited for other work or for its turn
  kUnknown,         ///< work without a launch in the trace
};
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::kUnknown) + 1;
using IdleByCause = std::array<std::int64_t, kIdleCauses>; ///< ns, or numbers of gaps
/// Returns a stable name: "host", "synchronisation", ...
[[nodiscard]] std::string_view idle_cause_name(IdleCause cause);
/// Returns a description of half a line.
[[nodiscard]] std::string_view idle_cause_help(IdleCause cause);
/// Returns advice as an imperative sentence.
[[nodiscard]] std::string_view idle_cause_advice(IdleCause cause);

/// Returns whether a runtime call with this name returns only after the GPU has finished some work.
/// The names of blocking copies do not contain "Async".
[[nodiscard]] bool waits_for_gpu(std::string_view call);

struct IdleTime {
  IdleByCause ns{};
  IdleByCause gaps{}; ///< number of gaps by their main cause
  /// Longest stretch of each cause; empty if the cause does not occur.
  std::array<Interval, kIdleCauses> longest{};

  /// Returns gpu_timeline's idle_time for the same options.
  [[nodiscard]] std::int64_t total_ns() const;
};

/// Key of the idle times of the GPU work that gpu_timeline counts. A gap lasts from a to b, and the
/// work that ends it was launched at l. If l <= a, all of it (b - a) is queued. Else the time until
/// l is synchronisation while a blocking call of the launching thread runs, and host otherwise; the
/// time after l is launch. Example: work until 10 us, a call of hipStreamSynchronize from 5 to 12,
/// next work launched at 20 and begun at 24: synchronisation 2, host 8, launch 4. O(n log n) in the
/// GPU events. Recomputed work is included.
struct IdleKey {
  using Value = IdleTime;
  bool unlinked; ///< GPU work without a launch in the trace counts too
  IdleKey(const ReportOptions& o = {}) : unlinked(o.include_unlinked_kernels) {}
  auto operator<=>(const IdleKey&) const = default;
};
[[nodiscard]] IdleTime compute(const LoadedTrace& trace, const IdleKey& key);

/// A stretch of idle time with one cause.
struct IdlePart {
  std::int64_t start_ns = 0, end_ns = 0;
  IdleCause cause = IdleCause::kHost;
};
/// Returns the parts of the idle time that IdleTime sums up, ordered by time; no part is empty.
[[nodiscard]] std::vector<IdlePart> idle_parts_of(const LoadedTrace& trace, const IdleKey& key);
/// Returns the sums of the parts in the interval. O(log n + k).
[[nodiscard]] IdleByCause idle_in(std::span<const IdlePart> parts, Interval at);

} // namespace rankscope
