// Generates a trace of an inference server with known answers: eager steps, and steps that replay
// captured graphs. The operators of graph kernels are written to a separate file (docs/synth.md).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::synth {

struct InferenceStep {
  std::int64_t context_tokens = 0;      ///< prompt tokens; one request per 1024 tokens, rounded up
  std::int64_t generation_requests = 0; ///< requests with one token each
  bool graph = false;                   ///< replay a graph; otherwise operators launch every kernel
};

struct InferenceOptions {
  std::int64_t layers = 12;
  std::vector<InferenceStep> steps = {{4096, 0, false}, {0, 32, false}, {0, 32, true}};
  std::uint64_t seed = 1;
  bool nvidia = true;       ///< write grids and blocks, which replays on AMD GPUs lack
  bool node_ids = false;    ///< kernels of graphs have CUPTI's graph id and graph node id
  bool moe = false;         ///< experts: one product per expert that has tokens
  bool two_streams = false; ///< overlap the two halves of each layer's feed-forward
  double lost = 0; ///< share of replayed kernels that the profiler drops, after the first replay
};

/// The operator of a graph's kernel. The trace does not contain it.
struct GraphKernelTruth {
  std::int64_t uid = 0; ///< index in traceEvents
  std::string op;
  std::int64_t dur_ns = 0;
};

struct InferenceTrace {
  std::string json;
  std::vector<GraphKernelTruth> truth;
};

/// Returns the trace as a pure function of the options.
[[nodiscard]] InferenceTrace inference_trace(const InferenceOptions& options);

/// Writes `folder`/trace.json and `folder`/ground_truth.json ({"graph_kernels": [{uid, op,
/// dur_ns}]}). Errors: kOutput.
Result<void> write_inference(const InferenceOptions& options, const std::string& folder);

} // namespace rankscope::synth
