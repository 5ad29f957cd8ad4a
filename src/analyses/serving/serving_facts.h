// Server step times: time, batch and rates of each step, idle time of the GPU between steps by CPU
// activity, and the times that requests see (docs/serving.md).
#pragma once

#include "analyses/timeline/inference_steps.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The reason why the GPU was idle between two steps.
enum class GapCause : std::uint8_t {
  kNone,      ///< no idle time
  kScheduler, ///< the CPU was outside of steps: it chose the next batch or waited for requests
  kHost,      ///< the CPU was in a step: it prepared inputs or processed outputs
  kSync,      ///< the CPU waited in a synchronising call while the GPU was idle
  kLaunch,    ///< the first launching call had returned and its work had not begun
};
inline constexpr std::size_t kGapCauses = static_cast<std::size_t>(GapCause::kLaunch) + 1;
/// Returns "none", "scheduler", "host", "sync" or "launch".
[[nodiscard]] std::string_view gap_cause_name(GapCause cause);

struct ServingStepFacts {
  AnnotatedStep step;
  std::size_t number = 0;     ///< 1-based index in the complete trace
  std::size_t launches = 0;   ///< calls that launched GPU work
  std::size_t graphs = 0;     ///< launches that launched a graph
  std::size_t gpu_events = 0; ///< GPU events of these launches
  std::int64_t gpu_start_ns = 0;
  std::int64_t end_ns = 0;  ///< end of the step's GPU work; without GPU work: end of the annotation
  std::int64_t busy_ns = 0; ///< union of its GPU work
  /// Time without any GPU work, between begin and end of the step's GPU work.
  std::int64_t idle_ns = 0;
  /// Time from the step's start or the end of all earlier steps' GPU work, whichever is later, to
  /// end_ns. 0 without GPU work.
  std::int64_t time_ns = 0;
  /// Time from the end of all earlier steps' GPU work to end_ns; for the first step: time_ns. 0
  /// without GPU work.
  std::int64_t period_ns = 0;
  /// Idle time between the previous steps' GPU work and this step's first GPU work.
  std::int64_t gap_ns = 0;
  std::array<std::int64_t, kGapCauses> gap_by_cause{}; ///< gap_ns by cause
  GapCause cause = GapCause::kNone;                    ///< cause with the most time of gap_ns

  /// Returns whether the requests and tokens of prefill and decode are known.
  [[nodiscard]] bool has_counts() const { return !step.counts.phase; }
  /// Returns whether the step has requests, but the trace does not contain their GPU work: the
  /// recording ended before it, or events were lost.
  [[nodiscard]] bool lacks_gpu_work() const {
    return gpu_events == 0 && phase_of(step.counts) != StepPhase::kIdle;
  }
  /// Returns the number of requests: one output token per request is assumed. A chunk of a prompt
  /// generates no token, and speculative decoding generates several, but traces record neither.
  [[nodiscard]] std::int64_t output_tokens() const { return step.counts.requests(); }
};

/// Statistics of a quantity over steps or requests.
struct ServingMetric {
  std::string phase;      ///< "prefill", "mixed", "decode", "diffusion" or "all"
  std::string metric;     ///< name with its unit
  std::string count_unit; ///< unit of `count`: "steps", "requests" or "span"
  std::int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

/// The facts of the steps in a trace. If the trace is a part of a complete trace, the values of its
/// steps are those that they have in the complete trace.
struct ServingFacts {
  std::vector<ServingStepFacts> steps; ///< ordered by start
  std::vector<ServingMetric> metrics;
  std::array<std::int64_t, kGapCauses> gap_ns{}; ///< idle time over all gaps, by cause
  std::array<std::size_t, kGapCauses> gaps{};    ///< number of gaps by their main cause
  std::int64_t span_ns = 0;   ///< union of the periods of the steps; for all steps: time from the
                              ///< start of the first step to the end of the last step
  std::int64_t origin_ns = 0; ///< start of the first step of the complete trace
};

struct ServingKey {
  using Value = ServingFacts;
  auto operator<=>(const ServingKey&) const = default;
};
[[nodiscard]] ServingFacts compute(const LoadedTrace& trace, const ServingKey& key);

/// Returns the smallest value for which the weights of all values up to it reach the share `q` of
/// the total weight. `values`: (value, weight), in any order, not empty. Example: (1, 1) (5, 3):
/// 0.25 gives 1, 0.5 gives 5.
[[nodiscard]] double weighted_quantile(std::vector<std::pair<double, std::int64_t>> values,
                                       double q);

} // namespace rankscope
