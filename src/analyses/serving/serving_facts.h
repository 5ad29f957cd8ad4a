// What a server's steps took: times, batches and rates of each step, the idle time of the GPU
// between steps by what the CPU did, and the times that requests see (docs/serving.md).
#pragma once

#include "analyses/timeline/inference_steps.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Why the GPU was idle between two steps.
enum class GapCause : std::uint8_t {
  kNone,      ///< it was not
  kScheduler, ///< the CPU was in no step: it chose the next batch, or waited for requests
  kHost,      ///< the CPU was in a step: it made inputs ready, or handled outputs
  kSync,      ///< the CPU waited in a synchronising call with the GPU idle
  kLaunch,    ///< the first launch was done and its work had not begun
};
inline constexpr std::size_t kGapCauses = static_cast<std::size_t>(GapCause::kLaunch) + 1;
/// "none", "scheduler", "host", "sync", "launch".
[[nodiscard]] std::string_view gap_cause_name(GapCause cause);

struct ServingStepFacts {
  AnnotatedStep step;
  std::size_t number = 0;     ///< from 1
  std::size_t launches = 0;   ///< calls that launched GPU work
  std::size_t graphs = 0;     ///< of these: launches of graphs
  std::size_t gpu_events = 0; ///< that they launched
  std::int64_t gpu_start_ns = 0;
  std::int64_t end_ns = 0;  ///< of its GPU work; without any, of the annotation
  std::int64_t busy_ns = 0; ///< union of its GPU work
  std::int64_t idle_ns = 0; ///< between the first and the last of it, with no GPU work of any step
  std::int64_t time_ns = 0; ///< to end_ns from its start or the end of the step before, the later
  std::int64_t period_ns = 0; ///< to end_ns from the end of the step before; of the first: time_ns
  std::int64_t gap_ns = 0;    ///< idle GPU between the step before and this one's first work
  std::array<std::int64_t, kGapCauses> gap_by_cause{}; ///< adds up to gap_ns
  GapCause cause = GapCause::kNone;                    ///< with most of it

  /// Counts one for each request. A chunk of a prompt gives no token and speculation several, but
  /// neither is recorded.
  [[nodiscard]] std::int64_t output_tokens() const { return step.counts.requests(); }
};

/// A quantity over steps or over requests.
struct ServingMetric {
  std::string phase;  ///< "prefill", "mixed", "decode" or "all"
  std::string metric; ///< with its unit
  std::string of;     ///< "steps" or "requests": what is counted
  std::int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

struct ServingFacts {
  std::vector<ServingStepFacts> steps; ///< by start
  std::vector<ServingMetric> metrics;
  std::array<std::int64_t, kGapCauses> gap_ns{}; ///< over all gaps, by what the CPU did
  std::array<std::size_t, kGapCauses> gaps{};    ///< by the cause of each
  std::int64_t span_ns = 0; ///< from the start of the first step to the end of the last
};

struct ServingKey {
  using Value = ServingFacts;
  auto operator<=>(const ServingKey&) const = default;
};
[[nodiscard]] ServingFacts compute(const LoadedTrace& trace, const ServingKey& key);

/// Smallest value at which the weights up to it reach `q` of all. `values`: (value, weight), any
/// order, not empty. Example: (1, 1) (5, 3): 0.25 gives 1, 0.5 gives 5.
[[nodiscard]] double weighted_quantile(std::vector<std::pair<double, std::int64_t>> values,
                                       double q);

} // namespace rankscope
