// The activities of a pipeline-parallel training job, as in "Understanding Stragglers in Large
// Model Training Using What-if Analysis" (OSDI 2025): one row for each computation and
// communication operation of a worker in a step. There are no kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

enum class PipelineOp : std::uint8_t {
  kForwardCompute,
  kBackwardCompute,
  kForwardSend,
  kForwardRecv,
  kBackwardSend,
  kBackwardRecv,
  kParamsAllGather,
  kGradsReduceScatter,
  kSeparateAllReduce,
  kLayernormAllReduce,
  kEmbeddingAllReduce,
  kClipMainGrad,
  kOptimizer,
  kCollection, ///< Python's garbage collection
};
inline constexpr std::size_t kPipelineOps = 14;
inline constexpr std::array<std::string_view, kPipelineOps> kPipelineOpNames = {
    "forward-compute",
    "backward-compute",
    "forward-send",
    "forward-recv",
    "backward-send",
    "backward-recv",
    "params-all-gather",
    "grads-reduce-scatter",
    "separate-grads-all-reduce",
    "layernorm-grads-all-reduce",
    "embedding-grads-all-reduce",
    "optimizer-clip-main-grad",
    "optimizer",
    "gc"};

/// Returns whether the operation is a forward or backward computation.
[[nodiscard]] constexpr bool is_computation(PipelineOp op) {
  return op == PipelineOp::kForwardCompute || op == PipelineOp::kBackwardCompute;
}

struct PipelineWorker {
  std::int64_t rank = 0;
  std::int64_t data_parallel = 0; ///< data-parallel rank of the worker
  std::int64_t stage = 0;         ///< pipeline stage of the worker
};

struct PipelineRow {
  PipelineOp op = PipelineOp::kForwardCompute;
  std::uint32_t worker = 0; ///< index into PipelineTimeline::workers
  std::uint32_t step = 0;   ///< index into PipelineTimeline::steps
  std::int64_t seq = 0;     ///< 0-based index among the operations of this kind of the worker in
                            ///< the step, by start time
  std::int64_t chunk = -1;  ///< model chunk of the stage; -1: unknown
  std::int64_t micro_batch = -1; ///< of a computation: number of its micro-batch in the step; -1:
                                 ///< unknown
  std::int64_t start_ns = 0, dur_ns = 0; ///< dur_ns may be down to -10 ms if clocks differ
};

struct PipelineTimeline {
  std::vector<PipelineWorker> workers; ///< by rank
  std::vector<std::int64_t> steps;     ///< step numbers, ascending
  std::vector<PipelineRow> rows;
};

} // namespace rankscope
