// A trace of an inference server with known answers: eager steps and steps that replay captured
// graphs. The operators of graph kernels are written to a separate file (docs/synth.md).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::synth {

struct InferenceStep {
  std::int64_t context_tokens = 0;      ///< of prompts, one request per 1024 begun
  std::int64_t generation_requests = 0; ///< one token each
  bool graph = false;                   ///< replayed; else every kernel is launched by its operator
};

struct InferenceOptions {
  std::int64_t layers = 12;
  std::vector<InferenceStep> steps = {{4096, 0, false}, {0, 32, false}, {0, 32, true}};
  std::uint64_t seed = 1;
  bool nvidia = true;       ///< with grids and blocks, which AMD's replays lack
  bool node_ids = false;    ///< kernels of graphs carry CUPTI's graph id and graph node id
  bool moe = false;         ///< experts: one product per expert that got tokens
  bool two_streams = false; ///< the two halves of each layer's feed-forward overlap
  double lost = 0; ///< share of replayed kernels that the profiler drops, after the first replay
};

/// The operator of a graph's kernel, which the trace does not contain.
struct GraphKernelTruth {
  std::int64_t uid = 0; ///< place in traceEvents
  std::string op;
  std::int64_t dur_ns = 0;
};

struct InferenceTrace {
  std::string json;
  std::vector<GraphKernelTruth> truth;
};

/// A pure function of the options.
[[nodiscard]] InferenceTrace inference_trace(const InferenceOptions& options);

/// Writes `folder`/trace.json and `folder`/ground_truth.json ({"graph_kernels": [{uid, op,
/// dur_ns}]}). Errors: kOutput.
Result<void> write_inference(const InferenceOptions& options, const std::string& folder);

} // namespace rankscope::synth
